"""What scheduling decides, written by compare-and-set: a decision taken on an old picture changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from apps.live import publish
from apps.quotas import services as quotas
from apps.tasks import nudges
from apps.tasks.domain.states import FINAL, Intent, Reason, State
from apps.tasks.models import Attempt, Task
from apps.tasks.services import moves


def admit(
    *,
    task_id: UUID,
    attempt_number: int,
    cluster_id: int,
    pool_id: int,
    planned_nodes: Mapping[str, int],
    keeps_quota_hold: bool,
    now: datetime,
) -> bool:
    """Give a queued attempt its cluster and pool; False when it is no longer queued. In the caller's transaction."""
    task = Task.objects.filter(pk=task_id, attempt=attempt_number, intent=Intent.RUN, deleted_at=None).first()
    if task is None:
        return False
    if not moves.move(task, expected=[State.QUEUED], to=State.STARTING, now=now, reason=Reason.CREATING_OBJECTS):
        return False
    attempt = task.attempts.get(number=attempt_number)
    Attempt.objects.filter(pk=attempt.pk).update(
        cluster_id=cluster_id,
        pool_id=pool_id,
        planned_nodes=dict(planned_nodes),
        admitted_at=now,
        next_try_at=None,
        tries=0,
    )
    if not keeps_quota_hold:
        quotas.release(task.pk, why="project pool", now=now, attempt=attempt_number, only="quota")
    attempt.refresh_from_db()
    names = {"cluster": str(attempt.cluster), "pool": str(attempt.pool), "nodes": dict(planned_nodes)}
    moves.note(task, "Admitted", now=now, numbers=names)
    nudges.reconcile_soon(attempt.pk)
    return True


def record_waiting(task_id: UUID, *, reason: Reason, numbers: Mapping[str, Any], now: datetime) -> bool:
    """Say why a queued task waits. Only a changed reason is written and told, so an idle cycle costs nothing."""
    waiting = Task.objects.filter(pk=task_id, state=State.QUEUED)
    changed = waiting.exclude(reason=reason, reason_numbers=dict(numbers))
    moved = changed.exclude(reason=reason).update(
        reason=reason, reason_numbers=dict(numbers), reason_since=now, seq=F("seq") + 1
    ) or changed.filter(reason=reason).update(reason_numbers=dict(numbers), seq=F("seq") + 1)
    if moved:
        publish.task_changed(Task.objects.get(pk=task_id))
    return bool(moved)


def requeue(task: Task, *, now: datetime, reason: Reason, numbers: Mapping[str, Any], pinned: bool) -> bool:
    """Send an admitted task back to the queue with its first submit time; pinned: its objects stay where they are."""
    moved = moves.move(
        task, expected=set(State) - FINAL - {State.QUEUED}, to=State.QUEUED, now=now, reason=reason, numbers=numbers
    )
    if moved:
        quotas.release(task.pk, why="requeued", now=now, attempt=task.attempt, only="pool")
        if not pinned:
            task.attempts.filter(number=task.attempt).update(
                cluster=None, pool=None, admitted_at=None, planned_nodes={}
            )
        nudges.admit_soon()
    return moved
