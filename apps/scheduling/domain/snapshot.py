"""The picture that one admission cycle decides on: frozen views, read at one moment (domain.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.clusters.domain.inventory import NodeFacts, Taint
from apps.clusters.domain.pools import PoolFacts
from apps.kernel.resources import NOTHING, Bundle
from apps.quotas.domain.ledger import Standing
from apps.scheduling.domain.selection import Selection
from apps.tasks.domain.spec import Priority

NodeView = NodeFacts
PoolView = PoolFacts

__all__ = ["ClusterView", "Need", "NodeView", "PoolView", "QueuedTask", "RunningShare", "Snapshot", "Taint"]


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One cluster: whether it answers and takes tasks, which API versions it serves, how many tasks start there now."""

    id: int
    name: str
    reachable: bool = True
    enabled: bool = True
    capabilities: frozenset[str] = frozenset()
    starting: int = 0


@dataclass(frozen=True, slots=True)
class Need:
    """What a task asks of a place: ``nodes`` identical pods of ``per_node``, of which ``least`` must fit to start.

    ``mark`` is what the user wrote, None for CPU only; ``api`` the API version that the task's objects belong to.
    """

    per_node: Bundle = NOTHING
    nodes: int = 1
    least: int = 1
    mark: str | None = None
    api: str = "batch/v1"
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True, slots=True)
class QueuedTask:
    """One task in the queue; ``scope`` names who pays, ``submitted`` is the first submit time.

    ``booked`` are the quota amounts of the whole task; ``pinned`` the cluster and pool where its objects stand already;
    ``reason`` and ``numbers`` are what its owner is told now.
    """

    id: str
    submitted: datetime
    scope: str
    attempt: int = 1
    priority: Priority = Priority.NORMAL
    project_id: int | None = None
    need: Need = field(default_factory=Need)
    holds_quota: bool = False
    booked: Mapping[str, int] = field(default_factory=dict)
    pinned: tuple[int, int] | None = None
    reason: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunningShare:
    """What one scope's admitted task holds of a pool, for fair share."""

    scope: str
    pool_id: int
    mark: str | None
    amount: Bundle


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a cycle may know. ``quotas`` holds the standings of scopes with tasks that hold no quota."""

    nodes: tuple[NodeView, ...] = ()
    pools: tuple[PoolView, ...] = ()
    clusters: tuple[ClusterView, ...] = ()
    queued: tuple[QueuedTask, ...] = ()
    running: tuple[RunningShare, ...] = ()
    marks: frozenset[str] = frozenset()
    quotas: Mapping[tuple[str, str], Standing] = field(default_factory=dict)
