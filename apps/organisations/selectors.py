"""Nouns of the organisation, read in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.kernel.errors import Code, refuse
from apps.organisations.models import Department, Membership, Project


def members(project: Project) -> QuerySet[Membership]:
    """Who is in the Project, with the person beside each row."""
    return project.memberships.select_related("user").order_by("user__username")


def with_member_count(projects: QuerySet[Project]) -> Sequence[Project]:
    """The Projects, each with ``member_count``."""
    return list(projects.annotate(member_count=Count("memberships", distinct=True)).order_by("slug"))


def projects_of(user: User) -> QuerySet[Project]:
    """The Projects that the person is a member of."""
    return Project.objects.filter(memberships__user=user).select_related("department").order_by("slug")


def person_named(username: str, *, field: str) -> User:
    """The active person of that name; raises Refused (invalid) at ``field``."""
    found = None if "\x00" in username else User.objects.filter(username=username, is_active=True).first()
    if found is None:
        raise refuse(Code.INVALID, _("There is no such person."), fields={field: [_("there is no such person")]})
    return found


def department_named(slug: str) -> Department:
    """The Department of that short name; raises Refused (invalid) at ``department``."""
    found = Department.objects.filter(slug=slug).first()
    if found is None:
        message = _("there is no such department")
        raise refuse(Code.INVALID, _("There is no such department."), fields={"department": [message]})
    return found


def member(project: Project, pk: int) -> User:
    """A person who is in the Project; raises Http404 for anybody else."""
    found = project.memberships.select_related("user").filter(user=pk).first()
    if found is None:
        raise Http404
    return found.user
