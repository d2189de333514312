"""Projects and their members, and who the caller is (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller, scopes_of, source_of, token_of
from apps.accounts.domain.tokens import Scope
from apps.kernel import clock
from apps.organisations import access, selectors, services
from apps.organisations.api import reading
from apps.organisations.api.serializers import (
    ROLES,
    MeAnswer,
    MemberAnswer,
    NewMemberShape,
    NewProjectShape,
    ProjectAnswer,
)
from apps.organisations.domain.roles import Action, Role
from apps.rest.pagination import answer_page
from apps.rest.parsing import Body
from apps.rest.schema import documented


class Projects(APIView):
    scopes: ClassVar = {"GET": Scope.PROJECTS_READ, "POST": Scope.PROJECTS_WRITE}

    @documented("list_projects", ProjectAnswer, paged=True)
    def get(self, request: Request) -> Response:
        """The projects that you may read, with your role in each."""
        person = caller(request)
        return answer_page(
            request,
            access.visible_projects(person),
            ProjectAnswer,
            orders={"slug": "slug"},
            default="slug",
            context={"roles": access.roles_of(person)},
        )

    @documented("create_project", ProjectAnswer, status=201, request=NewProjectShape)
    def post(self, request: Request) -> Response:
        """A new project with its first owner; for administrators."""
        person, now = caller(request), clock.now()
        access.check_may_create(person)
        project = services.create_project(**reading.new_project(request), by=person, now=now, source=source_of(request))
        return Response(ProjectAnswer(project, context={"roles": access.roles_of(person)}).data, status=201)


class OneProject(APIView):
    scopes: ClassVar = {"GET": Scope.PROJECTS_READ}

    @documented("read_project", ProjectAnswer)
    def get(self, request: Request, slug: str) -> Response:
        """One project, with your role in it."""
        person = caller(request)
        project = access.project_for(person, slug)
        return Response(ProjectAnswer(project, context={"roles": access.roles_of(person)}).data)


class Members(APIView):
    scopes: ClassVar = {"GET": Scope.PROJECTS_READ, "POST": Scope.PROJECTS_WRITE}

    @documented("list_members", MemberAnswer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """Who is in the project."""
        rows = selectors.members(access.project_for(caller(request), slug))
        return answer_page(request, rows, MemberAnswer, orders={"user": "user__username"}, default="user")

    @documented("set_member", MemberAnswer, status=201, request=NewMemberShape)
    def post(self, request: Request, slug: str) -> Response:
        """Give a person a role in the project, new or instead of the old one; for its owners."""
        person, body = caller(request), Body(request.data)
        project = access.project_for(person, slug, to=Action.MANAGE_MEMBERS)
        name, role = body.text("user", longest=150), Role(body.word("role", ROLES))
        body.done()
        member = services.set_member(
            project,
            selectors.person_named(name, field="user"),
            role,
            by=person,
            now=clock.now(),
            source=source_of(request),
        )
        return Response(MemberAnswer(member).data, status=201)


class OneMember(APIView):
    scopes: ClassVar = {"DELETE": Scope.PROJECTS_WRITE}

    @documented("remove_member", None, status=204)
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """Take a person out of the project; for its owners."""
        person = caller(request)
        project = access.project_for(person, slug, to=Action.MANAGE_MEMBERS)
        member = selectors.person_named(username, field="user")
        services.remove_member(project, member, by=person, now=clock.now(), source=source_of(request))
        return Response(status=204)


class Me(APIView):
    any_scope: ClassVar = True

    @documented("who_am_i", MeAnswer)
    def get(self, request: Request) -> Response:
        """Who the token is, its scopes, its projects and roles."""
        person = caller(request)
        context = {"roles": access.roles_of(person), "scopes": scopes_of(request), "token": token_of(request)}
        projects = selectors.projects_of(person)
        return Response(MeAnswer(person, context={**context, "projects": projects}).data)
