"""What a person does to a task: one address per verb, asked for first where something would be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.kernel.clock import now
from apps.kernel.errors import Refused
from apps.organisations.domain.roles import Action
from apps.tasks import access
from apps.tasks.domain.states import Verb
from apps.tasks.services import changes, lifecycle
from apps.tasks.web import questions
from apps.tasks.web.views.detail import head
from apps.ui.htmx import go, htmx_of, problem, render_page, with_toast
from apps.ui.panels import refusal_notice, said

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.tasks.models import Task

SOURCE = "web"
DIRECT: dict[Verb, Callable[..., Task]] = {Verb.PAUSE: lifecycle.pause_task, Verb.RESUME: lifecycle.resume_task}
ASKED: dict[Verb, Callable[..., Task]] = {
    Verb.RESTART: lifecycle.restart_task,
    Verb.STOP: lifecycle.stop_task,
    Verb.DELETE: lifecycle.delete_task,
}


@require_POST
@login_required
def direct(request: HttpRequest, pk: UUID, verb: Verb) -> HttpResponse:
    user = cast("User", request.user)
    task = access.task_for(user, pk, to=Action.ACT_ON_TASKS)
    try:
        task = DIRECT[verb](task, by=user, now=now(), source=SOURCE)
    except Refused as refused:
        return _refused(request, refused, task)
    if htmx_of(request):
        return with_toast(render_page(request, "tasks/task_status.html", head(request, task, "")), questions.done(verb))
    messages.success(request, questions.done(verb))
    return go(request, "tasks:task-detail", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def asked(request: HttpRequest, pk: UUID, verb: Verb) -> HttpResponse:
    user = cast("User", request.user)
    task = access.task_for(user, pk, to=Action.ACT_ON_TASKS)
    if request.method != "POST":
        return render_page(request, "tasks/task_confirm.html", questions.question(task, verb), parts=("dialog",))
    try:
        ASKED[verb](task, by=user, now=now(), source=SOURCE)
    except Refused as refused:
        return _refused(request, refused, task)
    messages.success(request, questions.done(verb))
    return go(request, "tasks:task-list") if verb is Verb.DELETE else go(request, "tasks:task-detail", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def scale(request: HttpRequest, pk: UUID) -> HttpResponse:
    user = cast("User", request.user)
    task = access.task_for(user, pk, to=Action.ACT_ON_TASKS)
    context = questions.scale_question(task, request.POST.get("nodes"))
    if request.method != "POST":
        return render_page(request, "tasks/task_scale.html", context, parts=("dialog",))
    try:
        changes.scale_task(task, questions.whole(request.POST.get("nodes", "")), by=user, now=now(), source=SOURCE)
    except Refused as refused:
        return _again(request, "tasks/task_scale.html", context, refused)
    messages.success(request, questions.done(Verb.SCALE))
    return go(request, "tasks:task-detail", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    user = cast("User", request.user)
    task = access.task_for(user, pk, to=Action.ACT_ON_TASKS)
    name = request.POST.get("display_name", task.display_name)
    context = {"task": task, "name": name}
    if request.method != "POST":
        return render_page(request, "tasks/task_rename.html", context, parts=("dialog",))
    try:
        changes.rename_task(task, name, by=user, now=now(), source=SOURCE)
    except Refused as refused:
        return _again(request, "tasks/task_rename.html", context, refused)
    messages.success(request, questions.done(Verb.RENAME))
    return go(request, "tasks:task-detail", pk)


@require_POST
@login_required
def rollback(request: HttpRequest, pk: UUID) -> HttpResponse:
    user = cast("User", request.user)
    task = access.task_for(user, pk, to=Action.ACT_ON_TASKS)
    revision, version = (questions.whole(request.POST.get(name, "")) for name in ("revision", "version"))
    try:
        changes.rollback_task(task, revision, expected_version=version, by=user, now=now(), source=SOURCE)
    except Refused as refused:
        return _refused(request, refused, task, back="tasks:task-revisions")
    messages.success(request, _("Rolling back to revision %(n)d.") % {"n": revision})
    return go(request, "tasks:task-detail", pk)


@require_http_methods(["GET", "HEAD"])
@login_required
def clone(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk)
    return go(request, f"{reverse('tasks:task-new')}?clone={task.pk}")


def _refused(request: HttpRequest, refused: Refused, task: Task, *, back: str = "tasks:task-detail") -> HttpResponse:
    if htmx_of(request):
        return problem(said(refused.refusal), status=409)
    messages.error(request, said(refused.refusal))
    return go(request, back, task.pk)


def _again(request: HttpRequest, template: str, context: dict[str, Any], refused: Refused) -> HttpResponse:
    """The same question with the reason why its answer was not taken."""
    context["notice"] = refusal_notice(refused.refusal)
    status = 200 if htmx_of(request) else 409
    return render_page(request, template, context, parts=("dialog",), status=status)
