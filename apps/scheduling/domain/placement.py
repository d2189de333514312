"""Which pools a task may enter, and which cluster takes it (domain.md §§6, 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apps.scheduling.domain.fit import Fit, NoFit, Plan
from apps.scheduling.domain.ground import Ground
from apps.scheduling.domain.snapshot import ClusterView, PoolView, QueuedTask
from apps.tasks.domain.spec import Priority

# Every Kubernetes serves these, so a cluster that has not told its capabilities yet takes them too.
EVERYWHERE = frozenset({"v1", "apps/v1", "batch/v1"})


def tiers(task: QueuedTask, pools: Sequence[PoolView]) -> tuple[tuple[PoolView, ...], ...]:
    """The pools that the task may enter, those to be tried first before the others: the truth table of domain.md §6."""
    own = tuple(pool for pool in pools if task.project_id is not None and pool.project_id == task.project_id)
    public = tuple(pool for pool in pools if pool.is_public)
    chosen: tuple[tuple[PoolView, ...], ...]
    match task.priority:
        case Priority.HIGH:
            chosen = (own,)
        case Priority.NORMAL:
            chosen = (own, public if task.holds_quota else ())
        case _:
            # Lent places of others come last: there the owner's tasks may want them back at any time.
            lent = tuple(pool for pool in pools if task.project_id is not None and pool.lend_idle and pool not in own)
            chosen = (tuple(pool for pool in own if pool.lend_idle), public, lent)
    return tuple(tier for tier in chosen if tier)


def capable(task: QueuedTask, cluster: ClusterView) -> bool:
    """Whether the cluster takes tasks and serves the kind's API."""
    return cluster.enabled and (task.need.api in EVERYWHERE or task.need.api in cluster.capabilities)


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """One cluster as the choice saw it; ``free`` in cards of the mark, or millicores for a task without cards.

    ``present``: a pool that the task may enter has nodes of its mark there; ``queued``: tasks starting there now.
    """

    cluster_id: int
    cluster: str
    capable: bool
    reachable: bool
    present: bool
    fits: bool
    pool: str = ""
    free: int = 0
    queued: int = 0
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """One pool of one cluster where the task could run, and whether it fits now."""

    cluster: ClusterView
    pool: PoolView
    tier: int
    outcome: Fit | NoFit
    free: int


@dataclass(frozen=True, slots=True)
class Placed:
    """The task's place: how many of its pods on which node."""

    cluster: ClusterView
    pool: PoolView
    plan: Plan
    cards: tuple[ScoreCard, ...]


@dataclass(frozen=True, slots=True)
class NotPlaced:
    """No place now; ``tried`` are the places that could ever hold it, reachable or not."""

    tried: tuple[Tried, ...]
    cards: tuple[ScoreCard, ...]


def place(
    task: QueuedTask, ground: Ground, pools: Sequence[PoolView], clusters: Sequence[ClusterView]
) -> Placed | NotPlaced:
    """Project pool before public pool, then most free cards, then fewest queued, then name (domain.md §9)."""
    tried = tuple(_tried(task, ground, pools, clusters))
    fitting = [each for each in tried if isinstance(each.outcome, Fit) and each.cluster.reachable]
    best = min(fitting, key=_preference, default=None)
    cards = tuple(_card(task, cluster, tried, best) for cluster in clusters)
    if best is None or not isinstance(best.outcome, Fit):
        return NotPlaced(tried, cards)
    return Placed(best.cluster, best.pool, best.outcome.plan, cards)


def _preference(tried: Tried) -> tuple[int, int, int, str, str]:
    return tried.tier, -tried.free, tried.cluster.starting, tried.cluster.name, tried.pool.name


def _tried(
    task: QueuedTask, ground: Ground, pools: Sequence[PoolView], clusters: Sequence[ClusterView]
) -> Iterator[Tried]:
    for rank, tier in enumerate(tiers(task, pools)):
        for cluster in clusters:
            for pool in tier:
                if not capable(task, cluster) or task.pinned not in (None, (cluster.id, pool.id)):
                    continue
                found = ground.assess(task.need, (cluster.id, pool.id))
                if found is not None:
                    size = found.free.cpu if task.need.mark is None else found.free.cards
                    yield Tried(cluster, pool, rank, found.outcome, size)


def _card(task: QueuedTask, cluster: ClusterView, tried: Sequence[Tried], best: Tried | None) -> ScoreCard:
    here = [each for each in tried if each.cluster is cluster]
    shown = min(here, key=lambda each: (isinstance(each.outcome, NoFit), *_preference(each)), default=None)
    if best is not None and best.cluster is cluster:
        shown = best
    bare = ScoreCard(
        cluster_id=cluster.id,
        cluster=cluster.name,
        capable=capable(task, cluster),
        reachable=cluster.reachable,
        present=shown is not None,
        fits=shown is not None and isinstance(shown.outcome, Fit),
        queued=cluster.starting,
    )
    if shown is None:
        return bare
    return replace(bare, pool=shown.pool.name, free=shown.free, chosen=shown is best)
