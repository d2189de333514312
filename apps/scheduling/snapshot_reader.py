"""The only builder of snapshots: from tables to frozen values, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from apps.clusters.domain.marks import MarkFacts
from apps.quotas import selectors as quotas
from apps.quotas.domain.ledger import Standing
from apps.quotas.models import Quota
from apps.scheduling.domain.needs import need_of
from apps.scheduling.domain.snapshot import QueuedTask, Snapshot
from apps.scheduling.selectors import Plant, plant, queued_attempts, scope_key
from apps.tasks.domain import spec as specs
from apps.tasks.domain.spec import Priority
from apps.tasks.domain.splitting import booked
from apps.tasks.models import Attempt


def read_snapshot() -> Snapshot:
    """Everything that a cycle decides on; nine queries whatever the numbers of tasks and nodes."""
    present = plant()
    attempts = queued_attempts()
    holders = quotas.quota_holders([attempt.task_id for attempt in attempts])
    queued = [_queued(attempt, present.marks, holders) for attempt in attempts]
    return snapshot_of(present, queued, _standings(attempts))


def snapshot_of(
    present: Plant, queued: Sequence[QueuedTask], standings: Mapping[tuple[str, str], Standing]
) -> Snapshot:
    """The snapshot of a plant and a queue."""
    return Snapshot(
        nodes=present.nodes,
        pools=present.pools,
        clusters=present.clusters,
        queued=tuple(queued),
        running=present.running,
        marks=frozenset(present.marks),
        quotas=standings,
    )


def _queued(attempt: Attempt, marks: Mapping[str, MarkFacts], holders: Collection[tuple[UUID, int]]) -> QueuedTask:
    task = attempt.task
    spec = specs.from_json(task.spec)
    placed = attempt.cluster_id is not None and attempt.pool_id is not None
    return QueuedTask(
        id=str(task.pk),
        submitted=_submitted(attempt),
        scope=scope_key(task),
        attempt=attempt.number,
        priority=Priority(task.priority),
        project_id=task.project_id,
        need=need_of(spec, marks),
        holds_quota=(task.pk, attempt.number) in holders,
        booked=booked(spec, marks.get(task.mark)),
        pinned=(attempt.cluster_id or 0, attempt.pool_id or 0) if placed else None,
        reason=task.reason,
        numbers=task.reason_numbers,
    )


def _submitted(attempt: Attempt) -> datetime:
    """The moment of queueing: kept when the platform takes a task back, new when its owner resumes or restarts it."""
    return attempt.task.queued_at


def _standings(attempts: Sequence[Attempt]) -> dict[tuple[str, str], Standing]:
    """The quotas of every scope with a task in the queue."""
    projects = {attempt.task.project_id for attempt in attempts if attempt.task.project_id is not None}
    owners = {attempt.task.owner_id for attempt in attempts if attempt.task.project_id is None}
    rows = Quota.objects.filter(Q(project__in=projects) | Q(user__in=owners))
    return {
        (f"u{user}" if user else f"p{project}", resource): Standing(limit, held)
        for project, user, resource, limit, held in rows.values_list(
            "project_id", "user_id", "resource", "limit", "held"
        )
    }
