"""Counting cards and room once (F03)."""

from __future__ import annotations

from typing import Any

import pytest

from apps.clusters.domain.inventory import (
    CardCount,
    LargestRequest,
    NodeFacts,
    count_cards,
    largest_free,
    largest_request,
    takes_cards,
)
from apps.clusters.domain.pools import PoolFacts
from tests.support.plant import a_cpu_node, a_node, bundle, share


def test_two_nodes_with_the_same_card_are_two_cards() -> None:
    """F03: nodes of one card type never fold into one."""
    assert count_cards([a_node("a", cards=1), a_node("b", cards=1)]) == CardCount(built_in=2, usable=2, free=2)


def test_built_in_usable_faulty_used_and_free() -> None:
    """F03: capacity 8, allocatable 5, one running pod of one card: 8, 5, 3, 1, 4."""
    node = a_node("a", cards=5, used=1, built_in=8)
    assert count_cards([node]) == CardCount(built_in=8, usable=5, faulty=3, used=1, free=4)


@pytest.mark.parametrize(
    ("phase", "takes"), [("Running", True), ("Pending", True), ("Succeeded", False), ("Failed", False)]
)
def test_finished_pods_are_no_use(phase: str, takes: bool) -> None:
    """F03: 2 Succeeded and 1 Failed pod take nothing."""
    assert takes_cards(phase) is takes


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"ready": False}, CardCount(built_in=8, usable=0, faulty=8, used=2, free=0)),
        ({"cordoned": True}, CardCount(built_in=8, usable=8, faulty=0, used=2, free=0)),
        ({"built_in": 0}, CardCount(built_in=8, usable=8, faulty=0, used=2, free=6)),
    ],
)
def test_what_a_node_in_trouble_counts(state: dict[str, Any], expected: CardCount) -> None:
    assert count_cards([a_node("a", used=2, **state)]) == expected


def test_an_oversubscribed_node_has_no_negative_room() -> None:
    assert a_node("a", used=9).free == bundle()


def test_the_largest_free_cpu_node_leaves_cards_nodes_out() -> None:
    nodes: list[NodeFacts] = [
        a_node("cards"),
        a_cpu_node("small", cpu=2_000),
        a_cpu_node("large", cpu=9_000, used=bundle(3_000, 1_024)),
    ]
    assert (largest_free(nodes), largest_free([])) == (bundle(6_000, 15_360), bundle())


def test_the_largest_request_that_fits_now() -> None:
    nodes = [a_node("a", used=4), a_node("b", used=5), a_node("c", used=4)]
    assert largest_request(nodes, share(1)) == LargestRequest(cards_per_node=4, nodes=2)


def test_nothing_fits_where_all_is_taken() -> None:
    assert largest_request([a_node("a", used=8)], share(1)) == LargestRequest(0, 0)


def test_the_largest_request_is_asked_by_single_cards() -> None:
    with pytest.raises(ValueError, match="one card"):
        largest_request([], share(2))


def test_a_pool_without_a_project_is_public() -> None:
    assert (PoolFacts(1, "public").is_public, PoolFacts(2, "own", 7).is_public) == (True, False)
