"""One admission cycle, decided in plain Python: the same snapshot gives the same decisions (domain.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from apps.scheduling.domain.fit import Plan
from apps.scheduling.domain.ground import Ground
from apps.scheduling.domain.ordering import Shares, in_turn
from apps.scheduling.domain.placement import NotPlaced, Placed, ScoreCard, place
from apps.scheduling.domain.reasons import why_waiting
from apps.scheduling.domain.snapshot import ClusterView, QueuedTask, Snapshot
from apps.tasks.domain.states import Reason


@dataclass(frozen=True, slots=True)
class Admit:
    """This task's attempt goes to that cluster and pool; its quota hold is kept in a public pool, given back else."""

    task: QueuedTask
    cluster_id: int
    pool_id: int
    plan: Plan
    keeps_quota_hold: bool
    waited_seconds: int
    cards: tuple[ScoreCard, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """This task stays queued for exactly one reason; ``position`` is its place among those that wait for its mark."""

    task: QueuedTask
    reason: Reason
    numbers: Mapping[str, Any]
    cards: tuple[ScoreCard, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What one cycle decided, each list in the order of turns."""

    admissions: tuple[Admit, ...] = ()
    waiting: tuple[Wait, ...] = ()


def decide(snapshot: Snapshot, now: datetime) -> Decisions:
    """Every queued task is admitted or told why not; one that is blocked does not block those behind it."""
    ground = Ground(snapshot.nodes)
    clusters = {cluster.id: cluster for cluster in snapshot.clusters}
    shares = Shares(snapshot.nodes, snapshot.pools, snapshot.running)
    admissions: list[Admit] = []
    waiting: list[Wait] = []
    positions: dict[str | None, int] = {}
    for task in in_turn(snapshot.queued, shares):
        outcome = place(task, ground, snapshot.pools, tuple(clusters.values()))
        if isinstance(outcome, Placed):
            admissions.append(_admit(task, outcome, now))
            ground.occupy((outcome.cluster.id, outcome.pool.id), outcome.plan, task.need.per_node)
            clusters[outcome.cluster.id] = _one_more(outcome.cluster)
            shares.add(task.scope, outcome.pool.id, task.need.mark, task.need.per_node * task.need.nodes)
        else:
            positions[task.need.mark] = positions.get(task.need.mark, 0) + 1
            waiting.append(_wait(task, outcome, snapshot, ground, positions[task.need.mark]))
    return Decisions(tuple(admissions), tuple(waiting))


def _one_more(cluster: ClusterView) -> ClusterView:
    return replace(cluster, starting=cluster.starting + 1)


def _admit(task: QueuedTask, placed: Placed, now: datetime) -> Admit:
    return Admit(
        task=task,
        cluster_id=placed.cluster.id,
        pool_id=placed.pool.id,
        plan=placed.plan,
        keeps_quota_hold=placed.pool.is_public,
        waited_seconds=max(0, int((now - task.submitted).total_seconds())),
        cards=placed.cards,
    )


def _wait(task: QueuedTask, outcome: NotPlaced, snapshot: Snapshot, ground: Ground, position: int) -> Wait:
    why = why_waiting(task, outcome, snapshot, ground)
    return Wait(task, why.reason, {**why.numbers, "position": position}, outcome.cards)
