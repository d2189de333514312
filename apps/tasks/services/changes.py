"""Changing a task after creation: what its kind allows, guarded by the version the writer has seen (domain.md §2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.names import display_name_fault
from apps.quotas import services as quotas
from apps.tasks import nudges, selectors
from apps.tasks.domain import spec as specs
from apps.tasks.domain.immutability import changed_fields, forbidden_changes
from apps.tasks.domain.spec import KindName, TaskSpec
from apps.tasks.domain.splitting import booked, placed_amounts
from apps.tasks.domain.states import Intent, State, Verb
from apps.tasks.domain.wire import merge_patch
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Revision, Task
from apps.tasks.services import moves
from apps.tasks.services.lifecycle import require
from apps.tasks.services.submission import duplicate_name, fault_in, record_shape

LARGEST_SCALE = 10_000
SETTLED = (State.STARTING, State.RUNNING, State.DEGRADED, State.UPDATING)


@transaction.atomic
def rename_task(task: Task, name: str, *, by: User, now: datetime, source: str = "") -> Task:
    """Change the display name, which no cluster knows; raises Refused (invalid, duplicate_name)."""
    require(Verb.RENAME, task)
    fault = display_name_fault(name)
    if fault is not None:
        raise refuse(Code.INVALID, _("This name cannot be used."), fields={"display_name": [fault]})
    before = task.display_name
    if name == before:
        return task
    spec = specs.to_json(replace(specs.from_json(task.spec), display_name=name))
    try:
        with transaction.atomic():
            moves.touch(task, display_name=name, spec=spec, version=F("version") + 1)
    except IntegrityError as taken:
        raise duplicate_name(name) from taken
    moves.note(task, "Renamed", now=now, by=by, numbers={"before": before, "after": name})
    audit.record("task.renamed", on=task, by=by, now=now, before={"name": before}, after={"name": name}, source=source)
    return task


def edit_task(
    task: Task, wanted: TaskSpec, *, expected_version: int | None, by: User, now: datetime, source: str = ""
) -> Task:
    """Give the task another spec: all of it or nothing. Raises Refused: immutable_field naming every offending field,
    stale_version, and whatever ``submit_task`` raises. An unchanged spec is a success that changes nothing."""
    kind = KINDS[KindName(task.kind)]
    present = specs.from_json(task.spec)
    forbidden = forbidden_changes(present, wanted, kind.mutable_fields)
    if forbidden:
        raise _immutable(kind.name, forbidden)
    changed = changed_fields(present, wanted)
    if not changed:
        return task
    if changed == ("display_name",):
        return rename_task(task, wanted.display_name, by=by, now=now, source=source)
    return _revise(task, wanted, expected_version=expected_version, by=by, now=now, source=source)


def scale_task(
    task: Task, nodes: int, *, expected_version: int | None = None, by: User, now: datetime, source: str = ""
) -> Task:
    """Change how many instances run, and nothing else: the pods that stay keep their uids (F30)."""
    require(Verb.SCALE, task)
    if not 0 <= nodes <= LARGEST_SCALE:
        message = _("a whole number from 0 to %(most)d") % {"most": LARGEST_SCALE}
        raise refuse(Code.INVALID, message, fields={"nodes": [message]})
    present = specs.from_json(task.spec)
    wanted = replace(present, resources=replace(present.resources, nodes=nodes))
    with transaction.atomic():
        _write_spec(task, wanted, expected_version=expected_version, revision=task.revision)
        _rebook(task, wanted, now=now)
        _roll_out(task, now=now)
        numbers = {"before": present.resources.nodes, "after": nodes}
        moves.note(task, "Scaled", now=now, by=by, numbers=numbers)
        audit.record(
            "task.scaled",
            on=task,
            by=by,
            now=now,
            before={"nodes": numbers["before"]},
            after={"nodes": nodes},
            source=source,
        )
    return task


def rollback_task(
    task: Task, revision: int, *, expected_version: int | None = None, by: User, now: datetime, source: str = ""
) -> Task:
    """Make an earlier revision's shape the newest one; the name and the number of instances stay as they are."""
    require(Verb.ROLLBACK, task)
    target = task.revisions.filter(number=revision).first()
    if target is None:
        message = _("there is no revision %(number)d") % {"number": revision}
        raise refuse(Code.INVALID, message, fields={"revision": [message]})
    present, earlier = specs.from_json(task.spec), specs.from_json(target.spec)
    nodes = replace(earlier.resources, nodes=present.resources.nodes)
    wanted = replace(earlier, display_name=present.display_name, resources=nodes)
    if not changed_fields(present, wanted):
        return task
    return _revise(
        task, wanted, expected_version=expected_version, by=by, now=now, source=source, rolled_back_to=revision
    )


def clone_spec(task: Task, changes: Mapping[str, Any]) -> TaskSpec:
    """The task's spec with ``changes`` merged in (rest.md wire form), to be submitted anew; raises Refused."""
    present = specs.from_json(task.spec)
    renamed = changes if "display_name" in changes else {**changes, "display_name": _copy_name(present.display_name)}
    merged = merge_patch(present, renamed)
    if isinstance(merged, Refusal):
        raise Refused(merged)
    return merged


def _copy_name(name: str) -> str:
    return f"{name[:58]}-copy"


def _revise(
    task: Task,
    wanted: TaskSpec,
    *,
    expected_version: int | None,
    by: User,
    now: datetime,
    source: str,
    rolled_back_to: int | None = None,
) -> Task:
    require(Verb.EDIT, task)
    marks = selectors.mark_facts()
    fault = fault_in(wanted, marks)
    if fault is not None:
        raise Refused(fault)
    mark = marks[wanted.resources.mark] if wanted.resources.mark else None
    changed = changed_fields(specs.from_json(task.spec), wanted)
    with transaction.atomic():
        number = task.revision + 1
        _write_spec(task, wanted, expected_version=expected_version, revision=number)
        revision = Revision.objects.create(
            task=task, number=number, spec=task.spec, author=by, created_at=now, rolled_back_to=rolled_back_to
        )
        record_shape(task, revision, wanted, mark)
        _rebook(task, wanted, now=now)
        _roll_out(task, now=now)
        numbers: dict[str, Any] = {"revision": number, "fields": list(changed)}
        token = "Edited" if rolled_back_to is None else "RolledBack"
        moves.note(task, token, now=now, by=by, numbers=numbers | {"to": rolled_back_to})
        audit.record("task.edited", on=task, by=by, now=now, after=numbers, source=source)
    return task


def _write_spec(task: Task, wanted: TaskSpec, *, expected_version: int | None, revision: int) -> None:
    """Compare-and-set on the version seen by the writer, and on the one just read where the writer names none."""
    seen = task.version if expected_version is None else expected_version
    written = Task.objects.filter(pk=task.pk, version=seen).update(
        spec=specs.to_json(wanted),
        display_name=wanted.display_name,
        mark=wanted.resources.mark or "",
        cards=wanted.resources.cards_per_node * wanted.resources.nodes,
        nodes=wanted.resources.nodes,
        revision=revision,
        version=seen + 1,
    )
    if not written:
        task.refresh_from_db()
        detail = _("The task was changed meanwhile: it is at version %(present)d, you saw %(seen)d.")
        raise refuse(
            Code.STALE_VERSION, detail % {"present": task.version, "seen": seen}, present=task.version, seen=seen
        )
    moves.touch(task)


def _rebook(task: Task, wanted: TaskSpec, *, now: datetime) -> None:
    """What the task holds of quota and pool follows its size; raises Refused (quota_exceeded) when it may not grow."""
    mark = selectors.mark_facts().get(task.mark)
    refusal = quotas.adjust(
        project=task.project,
        user=task.owner,
        amounts=booked(wanted, mark),
        task_id=task.pk,
        attempt=task.attempt,
        now=now,
        pool_amounts=placed_amounts(wanted, mark),
    )
    if refusal is not None:
        raise Refused(refusal)


def _roll_out(task: Task, *, now: datetime) -> None:
    if task.state in SETTLED and task.intent == Intent.RUN:
        to = State.STARTING if task.state == State.STARTING else State.UPDATING
        moves.move(task, expected=SETTLED, to=to, now=now)
    for pk in Attempt.objects.filter(task=task, number=task.attempt, admitted_at__isnull=False).values_list(
        "pk", flat=True
    ):
        nudges.ring(pk)


def _immutable(kind: KindName, fields: tuple[str, ...]) -> Refused:
    why = _("A %(kind)s runs once, as it was submitted: after creation only its name may change.") % {"kind": kind}
    return refuse(
        Code.IMMUTABLE_FIELD,
        why + " " + _("Use “clone with changes” to run it anew with other values."),
        fields={path: [_("cannot be changed after creation")] for path in fields},
    )
