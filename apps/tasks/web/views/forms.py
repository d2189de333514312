"""Creating and changing a task: one page of four sections, the same rules as REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.kernel import ids
from apps.kernel.clock import now
from apps.kernel.errors import Code, Refused
from apps.organisations.domain.roles import Action
from apps.tasks import access
from apps.tasks.domain import spec as specs
from apps.tasks.domain.formdata import read_form, write_form
from apps.tasks.domain.immutability import changed_fields, diff
from apps.tasks.domain.spec import KindName, TaskSpec
from apps.tasks.domain.wire import to_wire
from apps.tasks.kinds.pod_template import shape
from apps.tasks.kinds.registry import KINDS
from apps.tasks.services import changes, submission
from apps.tasks.web import submissions
from apps.tasks.web.forms import (
    beginning_scope_and_mark,
    check_form,
    filled,
    form_context,
    locked_by,
    place_refusal,
    posted,
    refuse_locked,
    start_values,
)
from apps.tasks.web.questions import whole
from apps.tasks.web.yaml_text import from_yaml
from apps.ui.fields import FieldForm
from apps.ui.htmx import go, render_page
from apps.ui.scope import chosen_scope

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.tasks.models import Task

NEW, EDIT, REVIEW = "tasks/task_new.html", "tasks/task_edit.html", "tasks/task_review.html"
SOURCE = "web"


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form_page(request, _beginning(request))
    if request.POST.get("do") == "yaml":
        return _from_yaml(request)
    form = filled(posted(request.POST))
    spec = check_form(form.values, form=form)
    task = _submit(request, spec, form) if spec else None
    return go(request, "tasks:task-detail", task) if task else _form_page(request, form, status=422)


def _submit(request: HttpRequest, spec: TaskSpec, form: FieldForm) -> UUID | None:
    """The new task's id, or None with the refusal put at its fields; the same form sent twice is one task."""
    user, token = cast("User", request.user), request.POST.get("submission", "")
    try:
        task = submission.submit_task(spec, by=user, now=now(), source=SOURCE)
    except Refused as refused:
        earlier = submissions.became(user.pk, token)
        if earlier is None:
            place_refusal(refused.refusal, read_form(form.values), form)
        return earlier
    submissions.remember(user.pk, token, task.pk)
    messages.success(request, _("Submitted. It is in the queue; this page follows it."))
    return task.pk


def _beginning(request: HttpRequest) -> FieldForm:
    """An empty form, a starting point, or another task's values to be changed."""
    origin = request.GET.get("clone", "")
    if origin:
        task = access.task_for(cast("User", request.user), _uuid(origin))
        return filled(write_form(to_wire(changes.clone_spec(task, {}))))
    scope, mark = beginning_scope_and_mark(cast("User", request.user), chosen_scope(request))
    return filled(start_values(request.GET.get("start", ""), scope=scope, mark=mark))


def _uuid(text: str) -> UUID:
    """An id from the URL; what is none is the id of nothing."""
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)


def _from_yaml(request: HttpRequest) -> HttpResponse:
    text = request.POST.get("yaml", "")
    try:
        form = filled(write_form(from_yaml(text)))
        check_form(form.values, form=form)
    except Refused as refused:
        form = filled(posted(request.POST) | {"yaml": text})
        form.add("yaml", refused.refusal.fields.get("yaml", [refused.refusal.detail]))
    except (AttributeError, TypeError, ValueError):
        form = filled(posted(request.POST) | {"yaml": text})
        form.add("yaml", [_("a part of this has another shape than a task spec")])
    return _form_page(request, form)


def _form_page(request: HttpRequest, form: FieldForm, *, status: int = 200) -> HttpResponse:
    context = form_context(form, cast("User", request.user))
    context |= {"submission": request.POST.get("submission") or ids.new_id().hex, "start": request.GET.get("start", "")}
    return render_page(request, NEW, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    task = access.task_for(cast("User", request.user), pk, to=Action.ACT_ON_TASKS)
    form, present = locked_by(KINDS[KindName(task.kind)]), write_form(to_wire(specs.from_json(task.spec)))
    form.values = present
    if request.method != "POST":
        return _edit_page(request, task, form)
    sent = posted(request.POST)
    locked = any(form.lock(name) for name in present)
    form.values = present | {name: value for name, value in sent.items() if not form.lock(name)} if locked else sent
    if request.POST.get("do") == "back":
        return _edit_page(request, task, form)
    if refuse_locked(sent, present, form):
        return _edit_page(request, task, form, status=409)
    spec = check_form(form.values, form=form)
    if spec is None:
        return _edit_page(request, task, form, status=422)
    return _review(request, task, form, spec)


def _review(request: HttpRequest, task: Task, form: FieldForm, wanted: TaskSpec) -> HttpResponse:
    """First the difference, then, once it is confirmed, the change."""
    present = specs.from_json(task.spec)
    changed = changed_fields(present, wanted)
    seen = whole(request.POST.get("version", ""))
    if not changed:
        messages.info(request, _("Nothing was changed."))
        return go(request, "tasks:task-detail", task.pk)
    if request.POST.get("do") == "confirm" or changed == ("display_name",):
        return _change(request, task, form, wanted, seen)
    return _review_page(request, task, form, wanted, stale=seen != task.version)


def _review_page(
    request: HttpRequest, task: Task, form: FieldForm, wanted: TaskSpec, *, stale: bool, status: int = 200
) -> HttpResponse:
    """What stands there and what is wanted, field by field, and whether any running instance is replaced by it."""
    present = specs.from_json(task.spec)
    context = {"task": task, "diff": diff(present, wanted), "values": form.values, "stale": stale}
    return render_page(request, REVIEW, context | {"replaces": shape(present) != shape(wanted)}, status=status)


def _change(request: HttpRequest, task: Task, form: FieldForm, wanted: TaskSpec, seen: int) -> HttpResponse:
    try:
        changes.edit_task(task, wanted, expected_version=seen, by=cast("User", request.user), now=now(), source=SOURCE)
    except Refused as refused:
        if refused.refusal.code is Code.STALE_VERSION:
            return _review_page(request, task, form, wanted, stale=True, status=412)
        place_refusal(refused.refusal, read_form(form.values), form)
        return _edit_page(request, task, form, status=409)
    messages.success(request, _("Changed. The page shows how it comes about."))
    return go(request, "tasks:task-detail", task.pk)


def _edit_page(request: HttpRequest, task: Task, form: FieldForm, *, status: int = 200) -> HttpResponse:
    context = form_context(form, cast("User", request.user)) | {"task": task}
    context["version"] = request.POST.get("version") or task.version
    context["locked"] = bool(form.lock("kind")) and bool(form.lock("containers-0-image"))
    return render_page(request, EDIT, context, status=status)
