"""The only door from a person to a Task (domain.md §13): who; what holds now is the service's question."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.organisations import access as organisations
from apps.organisations.domain.roles import Action, Role
from apps.organisations.models import Membership, Project
from apps.tasks.models import Task


def visible_tasks(user: User) -> QuerySet[Task]:
    """The tasks on the person's lists: own personal ones and those of their Projects, deleted ones left out."""
    tasks = Task.objects.filter(deleted_at=None).select_related("project", "owner")
    if user.is_superuser or user.is_auditor:
        return tasks
    own_projects = Membership.objects.filter(user=user).values("project_id")
    return tasks.filter(Q(project__isnull=True, owner=user) | Q(project__in=own_projects))


def task_for(user: User, pk: UUID, *, to: Action = Action.READ) -> Task:
    """The Task, if the person may do ``to``; Http404 to strangers and for deleted ones, PermissionDenied to readers."""
    task = Task.objects.select_related("project", "owner").filter(pk=pk, deleted_at=None).first()
    if task is None:
        raise Http404
    organisations.check(user, role_on(user, task), to)
    return task


def role_on(user: User, task: Task) -> Role | None:
    """The person's role towards the task: a personal task belongs to its owner alone."""
    if task.project is None:
        return Role.OWNER if task.owner_id == user.pk else None
    return organisations.role_in(user, task.project)


def project_for_submission(user: User, slug: str | None) -> Project | None:
    """The Project to submit in, None for the person's own name; raises as ``organisations.access.project_for``."""
    return None if slug is None else organisations.project_for(user, slug, to=Action.ACT_ON_TASKS)
