"""The plant by mark, cluster and pool: what exists, is free and fits now (screens.md; F03)."""

from __future__ import annotations

from apps.clusters.domain.inventory import CardCount, LargestRequest
from apps.clusters.domain.marks import MarkFacts
from apps.kernel.resources import NOTHING, MiB, Millicores
from apps.scheduling.domain.resources import PlaceCards, Resources, resources_of
from apps.scheduling.domain.snapshot import ClusterView
from tests.support.plant import HOME, LENT, MARK, OWN, PUBLIC, a_cpu_node, a_node, bundle

FACTS = MarkFacts(MARK, "nvidia.com/gpu", 8, Millicores(20_000), MiB(102_400))
AWAY = ClusterView(2, "shanghai", reachable=False)
POOLS, CLUSTERS, MARKS = (PUBLIC, OWN, LENT), (HOME, AWAY), {MARK: FACTS}


def test_cards_are_counted_by_place_and_in_all() -> None:
    nodes = [
        a_node("a", used=3),
        a_node("b"),
        a_node("own", pool_id=2),
        a_node("far", cluster_id=2),
        a_node("loose", pool_id=None),
        a_cpu_node("cpu"),
    ]
    (found,) = resources_of(nodes, POOLS, CLUSTERS, MARKS, waiting=[MARK, None, MARK]).marks
    full = CardCount(8, 8, 0, 0, 8)
    assert found.places == (
        PlaceCards("beijing", True, "map-team", full, (nodes[2],)),
        PlaceCards("beijing", True, "public", CardCount(16, 16, 0, 3, 13), (nodes[0], nodes[1])),
        PlaceCards("shanghai", False, "public", full, (nodes[3],)),
    )
    assert (found.cards, found.queued) == (CardCount(32, 32, 0, 3, 29), 2)


def test_the_largest_request_is_one_that_a_reachable_place_can_take() -> None:
    nodes = [a_node("a", used=3), a_node("b", used=3), a_node("far", cluster_id=2)]
    (found,) = resources_of(nodes, POOLS, CLUSTERS, MARKS).marks
    assert found.largest == LargestRequest(cards_per_node=5, nodes=2)


def test_only_pools_that_the_reader_may_see_are_counted() -> None:
    nodes = [a_node("a"), a_node("own", pool_id=2), a_cpu_node("c", pool_id=2)]
    found = resources_of(nodes, POOLS, CLUSTERS, MARKS, visible=[1])
    assert ([place.pool for place in found.marks[0].places], found.cpu_nodes) == (["public"], ())


def test_the_roomiest_cpu_node_and_who_waits_for_one() -> None:
    nodes = [a_cpu_node("small", cpu=2_000), a_cpu_node("large", cpu=9_000, memory=4_096)]
    found = resources_of(nodes, POOLS, CLUSTERS, {}, waiting=[None])
    assert found == Resources((), bundle(9_000, 4_096), tuple(nodes), 1)


def test_a_mark_without_machines_offers_nothing() -> None:
    found = resources_of([], POOLS, CLUSTERS, MARKS)
    assert (found.marks[0].cards, found.marks[0].largest, found.largest_cpu_node) == (
        CardCount(),
        LargestRequest(),
        NOTHING,
    )
