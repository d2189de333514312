"""The only door from a person to a Project (domain.md §13): a stranger finds nothing, a reader may not act."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.organisations.domain.roles import Action, Role, may
from apps.organisations.models import Membership, Project


def role_in(user: User, project: Project) -> Role | None:
    """The person's own role there, None for a stranger; an administrator's rights do not show here."""
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    return Role(role) if role else None


def roles_of(user: User) -> dict[int, Role]:
    """Every Project's id that the person is a member of, with the role there; one query."""
    return {pk: Role(role) for pk, role in Membership.objects.filter(user=user).values_list("project_id", "role")}


def visible_projects(user: User) -> QuerySet[Project]:
    """The Projects that the person may read."""
    projects = Project.objects.select_related("department")
    if user.is_superuser or user.is_auditor:
        return projects
    return projects.filter(memberships__user=user)


def project_for(user: User, slug: str, *, to: Action = Action.READ) -> Project:
    """The Project, if the person may do ``to`` there; raises Http404 for a stranger, PermissionDenied for a reader."""
    project = Project.objects.select_related("department").filter(slug=slug).first()
    if project is None:
        raise Http404
    check(user, role_in(user, project), to)
    return project


def check_may_create(user: User) -> None:
    """Raise PermissionDenied unless the person may open Projects: administrators do (domain.md §13)."""
    if not user.is_superuser:
        raise PermissionDenied


def check(user: User, role: Role | None, action: Action) -> None:
    """Raise what a person of this role gets who tries ``action``: nothing, Http404 or PermissionDenied."""
    if may(role, action, is_admin=user.is_superuser, is_auditor=user.is_auditor):
        return
    if may(role, Action.READ, is_admin=user.is_superuser, is_auditor=user.is_auditor):
        raise PermissionDenied
    raise Http404
