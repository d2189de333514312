"""From what is recorded of an attempt to the task's state: derived by the kind, moved by compare-and-set.

A final state is never left, and nothing is given back but for what was seen: silence of a cluster changes no row here.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.live import publish
from apps.quotas import services as quotas
from apps.tasks import nudges
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import FINAL, Intent, State
from apps.tasks.kinds.base import InstanceState, InstanceStatus, Observed, Outcome, Status
from apps.tasks.kinds.recording import ended_at, storable
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Instance, Task
from apps.tasks.services import moves

RETENTION = timedelta(hours=24)
"""How long a finished attempt's objects stay on their cluster (domain.md §8)."""

_HAS_RUN = frozenset(
    {
        InstanceState.RUNNING,
        InstanceState.CRASH_LOOP,
        InstanceState.INIT_FAILED,
        InstanceState.SUCCEEDED,
        InstanceState.FAILED,
    }
)
# A task at rest that is found on its way to where it was has drifted from what is wanted.
_AT_REST = frozenset({State.RUNNING, State.DEGRADED, State.PAUSED})
_ASTRAY = frozenset({State.STARTING, State.UPDATING, State.PAUSING})
_TRIES = 3
_SHOWN = ("node", "state", "reason", "message", "restarts", "exit_code", "containers", "started_at")


@transaction.atomic
def settle(attempt_pk: int, *, now: datetime, verified: bool = False) -> None:
    """Derive the attempt's status from its recorded objects and move its task.

    ``verified`` says that the cluster itself was just asked: only then may an attempt whose workload was never seen
    count as gone, since somebody may be creating it in this moment.
    """
    for _try in range(_TRIES):
        attempt = Attempt.objects.select_related("task", "task__owner", "task__project").get(pk=attempt_pk)
        rows = list(Instance.objects.filter(attempt=attempt, gone_at=None).order_by("pk"))
        status = derive(attempt, rows)
        _write_instances(attempt.task, rows, status.instances)
        if attempt.number != attempt.task.attempt:
            return
        _note_running(attempt, status, now=now)
        unseen = not attempt.workload_uid and not verified
        if unseen and status.state in (State.STOPPED, State.PAUSED):
            return
        if _move(attempt, status, now=now):
            return


def derive(attempt: Attempt, rows: Iterable[Instance]) -> Status:
    """What the kind says about the recorded objects."""
    task = attempt.task
    observed = Observed(
        workload=attempt.workload or None,
        pods=[row.observed for row in rows],
        wanted_nodes=task.nodes,
        intent=Intent(task.intent),
        revision=task.revision,
        seen_before=bool(attempt.workload_uid),
        was_running=attempt.running_at is not None,
    )
    return KINDS[KindName(task.kind)].status(observed)


def next_seq(task: Task) -> int:
    """Raise the task's ``seq`` for a change that browsers should hear of; the row in hand follows."""
    Task.objects.filter(pk=task.pk).update(seq=F("seq") + 1)
    task.refresh_from_db(fields=["seq"])
    return task.seq


def end(
    attempt: Attempt,
    *,
    state: State,
    reason: str,
    numbers: dict[str, Any],
    text: str,
    now: datetime,
    expected: Iterable[State],
) -> bool:
    """End the task with its present attempt: final state, outcome, everything it held given back. In a transaction."""
    task = attempt.task
    moved = moves.move(
        task,
        expected=expected,
        to=state,
        now=now,
        reason=reason[:40] or None,
        numbers=_with_text(numbers, text),
        nodes_ready=0,
    )
    if not moved:
        return False
    # Objects of an ended attempt stay readable for a while, those of a stopped one go at once.
    due = now if state is State.STOPPED else now + RETENTION
    Attempt.objects.filter(pk=attempt.pk).update(
        finished_at=now, outcome=state.value, next_try_at=due, tries=0, lock_token=None, lock_expires_at=None
    )
    quotas.release(task.pk, why=state.value, now=now)
    told = {"reason": reason, **numbers} if reason else numbers
    failed = state is State.FAILED
    moves.note(task, state.value.capitalize(), now=now, numbers=told, text=text[:2000], warning=failed)
    nudges.admit_soon()
    if state is State.STOPPED:
        nudges.reconcile_soon(attempt.pk)
    return True


def _move(attempt: Attempt, status: Status, *, now: datetime) -> bool:
    """Bring the task where the status says; False when somebody else moved it meanwhile, so that it is derived anew."""
    task = attempt.task
    present = State(task.state)
    if present in FINAL:
        return True
    if status.outcome is not None:
        return _finish(attempt, status, present, now=now)
    # A queued task waits for an admission, whatever is left of it on a cluster: a suspended Job that is to go on.
    if present is State.QUEUED or _same(task, status):
        return True
    return _step(attempt, present, status, now=now)


def _finish(attempt: Attempt, status: Status, present: State, *, now: datetime) -> bool:
    """End the task when the cluster says it ended, or now, where the cluster's clock tells of a time before it came."""
    seen = ended_at(attempt.workload, latest=now) if status.outcome is not Outcome.STOPPED else now
    at = seen if seen >= (attempt.admitted_at or attempt.task.created_at) else now
    ended = end(
        attempt,
        state=status.state,
        reason=status.reason,
        numbers=_numbers(status),
        text=status.text,
        now=at,
        expected=[present],
    )
    if ended:
        # Whoever was not looking when it began knows the beginning only from the end.
        Attempt.objects.filter(pk=attempt.pk, running_at__gt=at).update(running_at=at)
        Task.objects.filter(pk=attempt.task_id, started_at__gt=at).update(started_at=at)
    return ended


def _step(attempt: Attempt, present: State, status: Status, *, now: datetime) -> bool:
    task = attempt.task
    same_reason = status.reason == task.reason
    also: dict[str, Any] = {"nodes_ready": status.nodes_ready}
    if same_reason:
        also["reason_since"] = task.reason_since
    moved = moves.move(
        task,
        expected=[present],
        to=status.state,
        now=now,
        reason=status.reason[:40] or None,
        numbers=_with_text(_numbers(status), status.text),
        **also,
    )
    if moved and present in _AT_REST and status.state in _ASTRAY:
        # Somebody changed the cluster by hand, or a change of ours has just begun: either is looked at now.
        nudges.ring(attempt.pk)
    if moved and status.state is State.PAUSED and task.intent == Intent.PAUSE and present is not State.PAUSED:
        quotas.release(task.pk, why="paused", now=now)
        moves.note(task, "Paused", now=now)
        nudges.admit_soon()
    return moved


def _same(task: Task, status: Status) -> bool:
    shown = (task.state, task.reason, task.reason_numbers, task.nodes_ready)
    numbers = _with_text(_numbers(status), status.text)
    return shown == (status.state.value, status.reason[:40], numbers, status.nodes_ready)


def _numbers(status: Status) -> dict[str, Any]:
    numbers: dict[str, Any] = storable(dict(status.numbers))
    return numbers


def _with_text(numbers: dict[str, Any], text: str) -> dict[str, Any]:
    return {**numbers, "message": storable(str(text))} if text else numbers


def _note_running(attempt: Attempt, status: Status, *, now: datetime) -> None:
    """The first moment at which a container of this attempt ran, and again after each time it queued."""
    task = attempt.task
    serves = status.state in (State.RUNNING, State.UPDATING, State.DEGRADED, State.SUCCEEDED, State.FAILED)
    if not serves and not any(instance.state in _HAS_RUN for instance in status.instances):
        return
    if task.state == State.QUEUED or (attempt.running_at is not None and attempt.running_at >= task.queued_at):
        return
    Attempt.objects.filter(pk=attempt.pk).update(running_at=now)
    attempt.running_at = now
    if task.started_at is None:
        Task.objects.filter(pk=task.pk, started_at=None).update(started_at=now)
    moves.note(task, "Running", now=now)


def _write_instances(task: Task, rows: list[Instance], statuses: Iterable[InstanceStatus]) -> None:
    """Write what each pod does now where that differs; one ``seq`` for all that changed together."""
    by_uid = {row.uid: row for row in rows}
    changed = [row for status in statuses if (row := by_uid.get(status.uid)) and _show(row, status)]
    if not changed:
        return
    seq = next_seq(task)
    for row in changed:
        row.seq = seq
    Instance.objects.bulk_update(changed, [*_SHOWN, "seq"])
    publish.task_changed(task, "instance.changed")


def _show(row: Instance, status: InstanceStatus) -> bool:
    """Put the status into the row; whether anything changed."""
    wanted: dict[str, Any] = {
        "node": status.node[:253],
        "state": status.state.value,
        "reason": status.reason[:60],
        "message": status.message[:1000],
        "restarts": status.restarts,
        "exit_code": status.exit_code,
        "containers": [
            {
                "name": container.name,
                "state": container.state,
                "restarts": container.restarts,
                "exit_code": container.exit_code,
                "reason": container.reason,
                "message": container.message,
                "init": container.init,
                "cause": container.cause,
            }
            for container in status.containers
        ],
        "started_at": status.started_at,
    }
    differing = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    for name, value in differing.items():
        setattr(row, name, value)
    return bool(differing)
