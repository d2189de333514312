"""What exists, is free and fits now, per mark, cluster and pool: the resources page as values (screens.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from apps.clusters.domain.inventory import (
    CardCount,
    LargestRequest,
    NodeFacts,
    count_cards,
    largest_free,
    largest_request,
)
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.pools import PoolFacts
from apps.kernel.resources import Bundle
from apps.scheduling.domain.snapshot import ClusterView


@dataclass(frozen=True, slots=True)
class PlaceCards:
    """The cards of a mark in one pool of one cluster, with the nodes they sit in."""

    cluster: str
    reachable: bool
    pool: str
    cards: CardCount
    nodes: tuple[NodeFacts, ...]


@dataclass(frozen=True, slots=True)
class MarkResources:
    """One kind of card: the sum over the places, the largest request that fits one place now, who waits for it."""

    mark: MarkFacts
    cards: CardCount
    places: tuple[PlaceCards, ...]
    largest: LargestRequest
    queued: int


@dataclass(frozen=True, slots=True)
class Resources:
    """The plant by mark, and the free part of the roomiest CPU node (millicores, MiB)."""

    marks: tuple[MarkResources, ...]
    largest_cpu_node: Bundle
    cpu_nodes: tuple[NodeFacts, ...]
    queued_cpu: int


def resources_of(
    nodes: Iterable[NodeFacts],
    pools: Iterable[PoolFacts],
    clusters: Iterable[ClusterView],
    marks: Mapping[str, MarkFacts],
    *,
    waiting: Collection[str | None] = (),
    visible: Collection[int] | None = None,
) -> Resources:
    """The resources in the ``visible`` pools (None: all); ``waiting`` has each queued task's mark, None for CPU."""
    names = {pool.id: pool.name for pool in pools if visible is None or pool.id in visible}
    shown = [node for node in nodes if node.pool_id in names]
    views = {cluster.id: cluster for cluster in clusters}
    queued = Counter(waiting)
    cpu_nodes = tuple(node for node in shown if node.mark is None)
    return Resources(
        marks=tuple(_mark(marks[mark], shown, names, views, queued[mark]) for mark in sorted(marks)),
        largest_cpu_node=largest_free(cpu_nodes),
        cpu_nodes=cpu_nodes,
        queued_cpu=queued[None],
    )


def _mark(
    facts: MarkFacts,
    nodes: Iterable[NodeFacts],
    pools: Mapping[int, str],
    clusters: Mapping[int, ClusterView],
    queued: int,
) -> MarkResources:
    by_place: dict[tuple[str, str, bool], list[NodeFacts]] = {}
    for node in nodes:
        if node.mark == facts.mark and node.pool_id is not None:
            view = clusters[node.cluster_id]
            by_place.setdefault((view.name, pools[node.pool_id], view.reachable), []).append(node)
    places = tuple(
        PlaceCards(cluster, reachable, pool, count_cards(there), tuple(there))
        for (cluster, pool, reachable), there in sorted(by_place.items())
    )
    share = facts.share(1)
    largest = max(
        (largest_request(place.nodes, share) for place in places if place.reachable),
        key=lambda request: (request.cards_per_node, request.nodes),
        default=LargestRequest(),
    )
    total = sum((place.cards for place in places), CardCount())
    return MarkResources(facts, total, places, largest, queued)
