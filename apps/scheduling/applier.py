"""Decisions into one transaction: by compare-and-set, so what was decided on an old picture changes nothing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.clusters.models import Pool
from apps.quotas import services as quotas
from apps.scheduling.domain.cycle import Admit, Decisions, Wait
from apps.scheduling.domain.needs import place_amounts
from apps.scheduling.models import Admission, Placement
from apps.tasks.models import Attempt
from apps.tasks.services import placement


@transaction.atomic
def apply(decisions: Decisions, *, now: datetime) -> int:
    """Write what was decided; how many tasks were admitted. A task that moved meanwhile is skipped.

    Tasks are moved before quota is given back: everyone who moves and books takes the two in that order.
    """
    admitted = [decision for decision in decisions.admissions if _move(decision, now)]
    attempts = _attempts(admitted)
    pools = Pool.objects.in_bulk({decision.pool_id for decision in admitted})
    for decision in admitted:
        task_id = UUID(decision.task.id)
        amounts = place_amounts(decision.task.need)
        quotas.hold_pool(pools[decision.pool_id], amounts, task_id, decision.task.attempt, now)
        _remember(decision, attempts[task_id], now)
    for wait in decisions.waiting:
        _explain(wait, now)
    for decision in admitted:
        if not decision.keeps_quota_hold:
            attempt = decision.task.attempt
            quotas.release(UUID(decision.task.id), why="project pool", now=now, attempt=attempt, only="quota")
    return len(admitted)


def _move(decision: Admit, now: datetime) -> bool:
    return placement.admit(
        task_id=UUID(decision.task.id),
        attempt_number=decision.task.attempt,
        cluster_id=decision.cluster_id,
        pool_id=decision.pool_id,
        planned_nodes=decision.plan,
        keeps_quota_hold=True,
        now=now,
    )


def _attempts(admitted: list[Admit]) -> dict[UUID, Attempt]:
    numbers = {UUID(decision.task.id): decision.task.attempt for decision in admitted}
    rows = Attempt.objects.filter(task__in=numbers)
    return {row.task_id: row for row in rows if row.number == numbers[row.task_id]}


def _remember(decision: Admit, attempt: Attempt, now: datetime) -> None:
    admission = Admission.objects.create(
        attempt=attempt,
        at=now,
        cluster_id=decision.cluster_id,
        pool_id=decision.pool_id,
        waited_seconds=decision.waited_seconds,
    )
    Placement.objects.bulk_create(
        Placement(admission=admission, cluster_id=card.cluster_id, chosen=card.chosen, card=asdict(card))
        for card in decision.cards
    )


def _explain(wait: Wait, now: datetime) -> None:
    told = (wait.task.reason, dict(wait.task.numbers))
    if told != (wait.reason, dict(wait.numbers)):
        placement.record_waiting(UUID(wait.task.id), reason=wait.reason, numbers=wait.numbers, now=now)
