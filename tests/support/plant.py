"""Builders of scheduling's values that name only what matters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from apps.clusters.domain.inventory import NodeFacts
from apps.clusters.domain.pools import PoolFacts
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.scheduling.domain.snapshot import ClusterView, Need, QueuedTask, Snapshot

START = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
MARK = "rtx-4090"
PUBLIC = PoolFacts(1, "public")
OWN = PoolFacts(2, "map-team", project_id=7)
LENT = PoolFacts(3, "sim-team", project_id=8, lend_idle=True)
HOME = ClusterView(1, "beijing")


def bundle(cpu: int = 0, memory: int = 0, cards: int = 0) -> Bundle:
    return Bundle(Millicores(cpu), MiB(memory), Cards(cards))


def share(cards: int) -> Bundle:
    """What cards bring with them here: 20 cores and 100 GiB each."""
    return bundle(20_000 * cards, 102_400 * cards, cards)


def a_node(name: str, *, cards: int = 8, used: int = 0, **facts: Any) -> NodeFacts:
    """A ready node of the public pool with 4090 cards, ``used`` of them taken."""
    values: dict[str, Any] = {
        "cluster_id": 1,
        "pool_id": 1,
        "mark": MARK,
        "capacity": share(cards),
        "used": share(used),
        "built_in": cards,
    }
    return NodeFacts(name=name, **(values | facts))


def a_cpu_node(name: str, *, cpu: int = 8_000, memory: int = 16_384, **facts: Any) -> NodeFacts:
    values: dict[str, Any] = {"cluster_id": 1, "pool_id": 1, "capacity": bundle(cpu, memory)}
    return NodeFacts(name=name, **(values | facts))


def a_need(cards: int = 1, nodes: int = 1, *, least: int | None = None, **facts: Any) -> Need:
    values: dict[str, Any] = {"per_node": share(cards), "mark": MARK}
    return Need(nodes=nodes, least=nodes if least is None else least, **(values | facts))


def a_cpu_need(cpu: int = 1_000, memory: int = 1_024, nodes: int = 1, **facts: Any) -> Need:
    return Need(per_node=bundle(cpu, memory), nodes=nodes, least=nodes, **facts)


def a_task(identity: str = "a", need: Need | None = None, *, at: int = 0, **facts: Any) -> QueuedTask:
    """A normal task of project 7 that holds its quota, queued ``at`` seconds after the start."""
    values: dict[str, Any] = {"scope": "p7", "project_id": 7, "holds_quota": True}
    return QueuedTask(identity, START + timedelta(seconds=at), need=need or a_need(), **(values | facts))


def a_snapshot(**facts: Any) -> Snapshot:
    values: dict[str, Any] = {"pools": (PUBLIC, OWN, LENT), "clusters": (HOME,), "marks": frozenset({MARK})}
    return Snapshot(**(values | facts))
