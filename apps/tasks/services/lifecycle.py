"""Pause, resume, restart, stop, delete: intent first, the cluster follows (domain.md §2)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.kernel.errors import Code, Refused, refuse
from apps.quotas import services as quotas
from apps.tasks import nudges, selectors
from apps.tasks.domain import spec as specs
from apps.tasks.domain.lifecycle import verb_fault
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import FINAL, ON_CLUSTER, Intent, Reason, State, Verb
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Task
from apps.tasks.services import moves
from apps.tasks.services.submission import duplicate_name, hold


def require(verb: Verb, task: Task) -> None:
    """Raise Refused (invalid_state) when the task does not allow the verb now."""
    fault = verb_fault(verb, kind=KINDS[KindName(task.kind)], state=State(task.state), intent=Intent(task.intent))
    if fault is not None:
        raise Refused(fault)


@transaction.atomic
def pause_task(task: Task, *, by: User, now: datetime, source: str = "") -> Task:
    """Pause: a queued task at once, a running one once its pods are gone; twice is harmless."""
    require(Verb.PAUSE, task)
    if task.state in (State.PAUSED, State.PAUSING):
        return task
    if _has_objects(task):
        _move_or_superseded(task, State.PAUSING, now=now, intent=Intent.PAUSE)
        _nudge(task)
    else:
        _move_or_superseded(task, State.PAUSED, now=now, intent=Intent.PAUSE, reason=Reason.PAUSED)
        quotas.release(task.pk, why="paused", now=now)
    return _done(task, Verb.PAUSE, by=by, now=now, source=source)


@transaction.atomic
def resume_task(task: Task, *, by: User, now: datetime, source: str = "") -> Task:
    """Resume: back into the queue, holding quota anew; raises Refused when the quota no longer suffices."""
    require(Verb.RESUME, task)
    _move_or_superseded(task, State.QUEUED, now=now, intent=Intent.RUN, queued_at=now)
    _hold_again(task, now=now)
    nudges.admit_soon()
    return _done(task, Verb.RESUME, by=by, now=now, source=source)


@transaction.atomic
def restart_task(task: Task, *, by: User, now: datetime, source: str = "") -> Task:
    """Restart: a Deployment on a cluster rolls its pods over, anything else begins its next attempt, freshly named."""
    require(Verb.RESTART, task)
    if KINDS[KindName(task.kind)].restarts_in_place and task.state in ON_CLUSTER:
        restarts = task.restart_count + 1
        _move_or_superseded(task, State.UPDATING, now=now, restart_count=restarts)
        _nudge(task)
    else:
        begin_attempt(task, now=now, why="restarted")
    return _done(task, Verb.RESTART, by=by, now=now, source=source)


@transaction.atomic
def stop_task(task: Task, *, by: User, now: datetime, source: str = "") -> Task:
    """Stop for good: at once where nothing is on a cluster, else when the objects are seen gone (F15)."""
    require(Verb.STOP, task)
    if task.state == State.STOPPING:
        return task
    _stop(task, now=now)
    return _done(task, Verb.STOP, by=by, now=now, source=source)


@transaction.atomic
def delete_task(task: Task, *, by: User, now: datetime, source: str = "") -> Task:
    """Take the task from the lists and its objects from the cluster; its history stays."""
    require(Verb.DELETE, task)
    if task.state not in FINAL and task.state != State.STOPPING:
        _stop(task, now=now)
    moves.touch(task, deleted_at=now)
    _nudge(task)
    return _done(task, Verb.DELETE, by=by, now=now, source=source)


def begin_attempt(task: Task, *, now: datetime, why: str) -> None:
    """Queue the task's next attempt; the former one's objects are removed by the reconciler, its hold passes on."""
    _name_still_free(task)
    former = task.attempt
    number = former + 1
    moved = Task.objects.filter(pk=task.pk, attempt=former).update(
        attempt=number,
        state=State.QUEUED,
        intent=Intent.RUN,
        reason="",
        reason_numbers={},
        reason_since=None,
        nodes_ready=0,
        queued_at=now,
        started_at=None,
        finished_at=None,
    )
    if not moved:
        raise superseded()
    Attempt.objects.filter(task=task, number=former, finished_at=None).update(finished_at=now, outcome=why)
    Attempt.objects.create(task=task, number=number, object_name=f"{task.object_name}-{number}", created_at=now)
    quotas.release(task.pk, why=why, now=now)
    moves.touch(task)
    _hold_again(task, now=now)
    nudges.admit_soon()
    nudges.ring(task.attempts.get(number=former).pk)


def superseded() -> Refused:
    """The refusal for a race that somebody else won in the same moment."""
    return refuse(Code.INVALID_STATE, _("The task has just changed; look at it again."))


def _stop(task: Task, *, now: datetime) -> None:
    if _has_objects(task):
        _move_or_superseded(task, State.STOPPING, now=now, intent=Intent.STOP)
        _nudge(task)
    else:
        _move_or_superseded(task, State.STOPPED, now=now, intent=Intent.STOP, reason=Reason.STOPPED_BY_USER)
        task.attempts.filter(number=task.attempt, finished_at=None).update(finished_at=now, outcome="stopped")
        quotas.release(task.pk, why="stopped", now=now)


def _has_objects(task: Task) -> bool:
    """Whether the present attempt was ever admitted, so that something may be on a cluster."""
    return task.attempts.filter(number=task.attempt, admitted_at__isnull=False, removed_at=None).exists()


def _move_or_superseded(task: Task, to: State, *, now: datetime, reason: Reason | None = None, **also: Any) -> None:
    if not moves.move(task, expected=[State(task.state)], to=to, now=now, reason=reason, **also):
        raise superseded()


def _hold_again(task: Task, *, now: datetime) -> None:
    spec = specs.from_json(task.spec)
    marks = selectors.mark_facts()
    hold(task, spec, mark=marks.get(task.mark), now=now)


def _name_still_free(task: Task) -> None:
    if task.state in FINAL and selectors.live_namesakes(task).exists():
        raise duplicate_name(task.display_name)


def _nudge(task: Task) -> None:
    for attempt in task.attempts.filter(number=task.attempt, admitted_at__isnull=False):
        nudges.ring(attempt.pk)


def _done(task: Task, verb: Verb, *, by: User, now: datetime, source: str) -> Task:
    moves.note(task, verb.value.capitalize(), now=now, by=by)
    audit.record(f"task.{verb.value}", on=task, by=by, now=now, after={"state": task.state}, source=source)
    return task
