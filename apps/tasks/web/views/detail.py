"""One task: what it does, why not, what next; each tab is a page of its own under one head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.tasks import access, selectors
from apps.tasks.web import reading
from apps.tasks.web.actions import actions, may_act
from apps.ui.htmx import render_page
from apps.ui.panels import Tab

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.tasks.models import Task

STATUS = {"status": "tasks/task_status.html"}
TABS = (
    ("task-detail", _("Overview")),
    ("task-instances", _("Instances")),
    ("task-logs", _("Logs")),
    ("task-events", _("Events")),
    ("task-revisions", _("Revisions")),
    ("task-yaml", "YAML"),
)


def own_parts(*names: str) -> dict[str, str]:
    """Partials of the page's own template."""
    return dict.fromkeys(names, "")


def head(request: HttpRequest, task: Task, tab: str) -> dict[str, Any]:
    """What stands above every tab."""
    user = cast("User", request.user)
    return {
        "task": task,
        "attempt": selectors.present_attempt(task),
        "actions": actions(task, user),
        "may_act": may_act(user, task),
        "tabs": [Tab(str(label), reverse(f"tasks:{name}", args=[task.pk]), name == tab) for name, label in TABS],
        "socket": f"/ws/tasks/{task.pk}",
    }


@require_safe
@login_required
def overview(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-detail")
    context |= reading.overview(task, context["attempt"])
    return render_page(
        request, "tasks/task_detail.html", context, parts=STATUS | own_parts("life", "instances", "recent")
    )


@require_safe
@login_required
def instances(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-instances")
    context |= reading.instances_tab(task, wanted=request.GET.get("attempt", ""))
    return render_page(request, "tasks/task_instances.html", context, parts=STATUS | own_parts("rows"))


@require_safe
@login_required
def logs(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-logs") | reading.logs_tab(task, request.GET)
    return render_page(request, "tasks/task_logs.html", context, parts=STATUS)


@require_safe
@login_required
def events(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-events") | reading.events_tab(task, request.GET)
    return render_page(request, "tasks/task_events.html", context, parts=STATUS | own_parts("events"))


@require_safe
@login_required
def revisions(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-revisions") | reading.revisions_tab(task, request.GET)
    return render_page(request, "tasks/task_revisions.html", context, parts=STATUS | own_parts("difference"))


@require_safe
@login_required
def yaml(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    context = head(request, task, "task-yaml") | reading.yaml_tab(task, selectors.present_attempt(task))
    return render_page(request, "tasks/task_yaml.html", context, parts=STATUS)
