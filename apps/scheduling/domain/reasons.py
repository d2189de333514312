"""Why a task waits: exactly one reason with its numbers, the nearest thing to a start (domain.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.kernel.resources import Bundle
from apps.quotas.domain.ledger import Standing, shortage
from apps.scheduling.domain.fit import NoFit
from apps.scheduling.domain.ground import Ground
from apps.scheduling.domain.ordering import amounts
from apps.scheduling.domain.placement import NotPlaced, Placed, Tried, place
from apps.scheduling.domain.snapshot import QueuedTask, Snapshot
from apps.tasks.domain.spec import Priority
from apps.tasks.domain.states import Reason


@dataclass(frozen=True, slots=True)
class Why:
    """A reason's token and the numbers of its sentence; amounts in pieces, millicores, MiB."""

    reason: Reason
    numbers: Mapping[str, Any]


def why_waiting(task: QueuedTask, outcome: NotPlaced, snapshot: Snapshot, ground: Ground) -> Why:
    """The one reason why the task was not placed now."""
    need = task.need
    if need.mark is not None and need.mark not in snapshot.marks:
        return Why(Reason.UNKNOWN_MARK, {"mark": need.mark})
    if _only_quota_lacks(task, outcome, snapshot, ground):
        return _quota(task, snapshot.quotas)
    if not outcome.tried:
        return Why(Reason.NO_CAPABLE_CLUSTER, {"mark": need.mark or ""})
    reachable = [each for each in outcome.tried if each.cluster.reachable]
    if not reachable:
        names = sorted({each.cluster.name for each in outcome.tried})
        return Why(Reason.CLUSTER_UNREACHABLE, {"clusters": names})
    lacks = [(each, each.outcome) for each in reachable if isinstance(each.outcome, NoFit)]
    return _capacity(task, *max(lacks, key=_nearness))


def _only_quota_lacks(task: QueuedTask, outcome: NotPlaced, snapshot: Snapshot, ground: Ground) -> bool:
    """Whether a normal task without quota would start at once in a public pool, or has no other pool at all."""
    if task.priority is not Priority.NORMAL or task.holds_quota:
        return False
    with_quota = place(replace(task, holds_quota=True), ground, snapshot.pools, snapshot.clusters)
    return isinstance(with_quota, Placed) or (not outcome.tried and bool(with_quota.tried))


def _quota(task: QueuedTask, quotas: Mapping[tuple[str, str], Standing]) -> Why:
    standings = {name: quotas.get((task.scope, name), Standing()) for name in task.booked}
    short = shortage(task.booked, standings)
    resource = short.resource if short else min(task.booked, default="cpu")
    standing = standings.get(resource, Standing())
    numbers = {
        "resource": resource,
        "asked": task.booked.get(resource, 0),
        "used": standing.used,
        "limit": standing.limit,
    }
    return Why(Reason.USER_QUOTA if task.project_id is None else Reason.PROJECT_QUOTA, numbers)


def _nearness(lack: tuple[Tried, NoFit]) -> tuple[int, int, int]:
    return lack[1].fits, lack[0].free, -lack[0].tier


def _capacity(task: QueuedTask, nearest: Tried, lack: NoFit) -> Why:
    """Too little in all, too little together on one node, or room for some of the gang only."""
    need = task.need
    place_names = {"pool": nearest.pool.name, "cluster": nearest.cluster.name}
    whole, free = amounts(need.per_node * need.least, need.mark), amounts(lack.free, need.mark)
    short = _first_short(whole, free, need.mark)
    resource = short or _main(need.mark)
    numbers = place_names | {"resource": resource, "needed": whole[resource], "free": free[resource]}
    if need.least > 1 and lack.fits > 0:
        return Why(Reason.GANG_PARTIAL, numbers | {"fits": lack.fits, "wanted": need.least})
    if short is not None:
        return Why(Reason.POOL_FULL, numbers)
    return Why(Reason.FRAGMENTED, place_names | _fragment(need.per_node, lack, need.mark))


def _fragment(per_node: Bundle, lack: NoFit, mark: str | None) -> dict[str, Any]:
    want, largest, free = amounts(per_node, mark), amounts(lack.largest, mark), amounts(lack.free, mark)
    resource = _first_short(want, largest, mark) or _main(mark)
    return {
        "resource": resource,
        "needed": want[resource],
        "free": free[resource],
        "largest": largest[resource],
    }


def _main(mark: str | None) -> str:
    return "cpu" if mark is None else f"cards:{mark}"


def _first_short(want: Mapping[str, int], have: Mapping[str, int], mark: str | None) -> str | None:
    """Cards before cores before memory: people think of their task in that order."""
    names = dict.fromkeys((_main(mark), "cpu", "memory"))
    return next((name for name in names if have[name] < want[name]), None)
