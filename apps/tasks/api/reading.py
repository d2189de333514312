"""What callers of the task calls send, as values of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.request import Request

from apps.kernel.errors import Refusal, Refused
from apps.rest.parsing import Body, Parameters
from apps.rest.schema import moment_parameter, text_parameter
from apps.rest.versions import matched_version
from apps.tasks.api.serializers import READ_ONLY
from apps.tasks.domain import spec as specs
from apps.tasks.domain.spec import KindName, Priority, TaskSpec
from apps.tasks.domain.states import State, Verb
from apps.tasks.domain.wire import merge_patch, parse_spec, replacement
from apps.tasks.kinds.registry import KINDS
from apps.tasks.selectors import TaskFilter

if TYPE_CHECKING:
    from apps.tasks.models import Task

ORDERS = {"created_at": "created_at", "queued_at": "queued_at", "display_name": "display_name", "state": "state"}
FILTERS = (
    text_parameter("state", "Only tasks in these states.", many=True),
    text_parameter("kind", "Only these kinds.", many=True),
    text_parameter("project", "Only tasks of these projects, by short name.", many=True),
    text_parameter("owner", "Only tasks of these people.", many=True),
    text_parameter("priority", "Only these priorities.", many=True),
    text_parameter("mark", "Only tasks on these kinds of card.", many=True),
    text_parameter("cluster", "Only tasks whose present attempt is on these clusters.", many=True),
    text_parameter("q", "Part of the name."),
    moment_parameter("created_after", "Created at this time or later."),
    moment_parameter("created_before", "Created before this time."),
    text_parameter("order", "One of created_at, queued_at, display_name, state; with - for falling."),
)


def task_filter(request: Request) -> TaskFilter:
    """The list's filters; raises Refused (invalid) naming every parameter that cannot be used."""
    given = Parameters(request)
    wanted = TaskFilter(
        state=given.words("state", frozenset(State)),
        kind=given.words("kind", frozenset(KindName)),
        priority=given.words("priority", frozenset(Priority)),
        project=given.texts("project"),
        owner=given.texts("owner"),
        mark=given.texts("mark"),
        cluster=given.texts("cluster"),
        q=given.text("q"),
        created_after=given.moment("created_after"),
        created_before=given.moment("created_before"),
    )
    given.done()
    return wanted


def new_spec(request: Request) -> TaskSpec:
    """The spec in the body; raises Refused with every fault under its path."""
    return _spec(parse_spec(request.data))


def patched_spec(task: Task, request: Request) -> TaskSpec:
    """The task's spec with the body's parts changed."""
    return _spec(merge_patch(specs.from_json(task.spec), request.data))


def replaced_spec(task: Task, request: Request) -> TaskSpec:
    """The whole spec in the body; what only answers carry is passed over."""
    data: Any = request.data
    if isinstance(data, dict):
        data = {name: value for name, value in data.items() if name not in READ_ONLY}
    return _spec(replacement(specs.from_json(task.spec), data))


def version_for_edit(task: Task, request: Request) -> int | None:
    """The version the writer has seen; needed where the kind can be edited (rest.md, PATCH)."""
    return matched_version(request, task.version, needed=Verb.EDIT in KINDS[KindName(task.kind)].verbs)


def version_for_verb(task: Task, request: Request) -> int | None:
    """The version the writer has seen, where one is named."""
    return matched_version(request, task.version, needed=False)


def nothing(request: Request) -> None:
    """Refuse a body where none is asked for, so that a misspelt call does not pass for done."""
    Body(request.data).done()


def _spec(read: TaskSpec | Refusal) -> TaskSpec:
    if isinstance(read, Refusal):
        raise Refused(read)
    return read
