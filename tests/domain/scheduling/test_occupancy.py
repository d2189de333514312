"""What admitted tasks take of each node (F03, F07): seen pods, planned ones, and instances still to come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.scheduling.domain.occupancy import Tenant, occupy, unseen
from tests.support.plant import a_need, a_node, share


def a_tenant(nodes: int = 2, **facts: object) -> Tenant:
    return Tenant(1, 1, a_need(1, nodes), **facts)  # type: ignore[arg-type]  # builder of any facts


@pytest.mark.parametrize(
    ("tenant", "expected"),
    [
        pytest.param(a_tenant(planned={"a": 2}), {"a": 2}, id="nothing seen yet"),
        pytest.param(a_tenant(planned={"a": 2}, seen={"a": 1}), {"a": 1}, id="one seen where it was planned"),
        pytest.param(a_tenant(planned={"a": 2}, seen={"b": 2}), {}, id="the cluster chose another node"),
        pytest.param(a_tenant(planned={"a": 1, "b": 1}, seen={"c": 1}), {"a": 1}, id="one elsewhere, one to come"),
        pytest.param(a_tenant(planned={"a": 1, "b": 1}, seen={"b": 1}, done=1), {}, id="one is done already"),
        pytest.param(a_tenant(planned={"a": 2}, expects=False), {}, id="nothing will come any more"),
    ],
)
def test_planned_pods_that_have_not_shown_up(tenant: Tenant, expected: dict[str, int]) -> None:
    assert unseen(tenant) == expected


def used(tenant: Tenant, *names: str) -> dict[str, int]:
    return {node.name: node.used.cards for node in occupy([a_node(name) for name in names], [tenant])}


def test_fifty_replaced_pods_take_what_two_replicas_take() -> None:
    """F07: what is gone is not in ``seen``, so only present pods and those to come count."""
    assert used(a_tenant(planned={"a": 2}, seen={"a": 2}), "a") == {"a": 2}


def test_instances_still_to_come_keep_room_before_new_tasks() -> None:
    assert used(a_tenant(5, planned={"a": 2}, seen={"a": 2}), "a") == {"a": 5}


def test_a_paused_task_takes_only_what_is_still_there() -> None:
    assert used(a_tenant(5, planned={"a": 5}, seen={"a": 1}, expects=False), "a") == {"a": 1}


def test_a_surge_during_an_update_counts_as_it_is() -> None:
    assert used(a_tenant(2, planned={"a": 2}, seen={"a": 2, "b": 1}), "a", "b") == {"a": 2, "b": 1}


def test_the_same_node_name_on_another_cluster_is_another_node() -> None:
    """F19: clusters are never mixed up."""
    nodes = [a_node("a"), a_node("a", cluster_id=2)]
    found = occupy(nodes, [a_tenant(2, seen={"a": 2})])
    assert {node.cluster_id: node.used for node in found} == {1: share(2), 2: share(0)}


counts = st.dictionaries(st.sampled_from("abc"), st.integers(0, 4))


@given(counts, counts, st.integers(0, 5), st.integers(0, 3))
def test_never_more_to_come_than_wanted_nor_than_planned(
    planned: dict[str, int], seen: dict[str, int], nodes: int, done: int
) -> None:
    tenant = a_tenant(nodes, planned=planned, seen=seen, done=done)
    left = unseen(tenant)
    assert all(0 < count <= planned[name] for name, count in left.items())
    assert sum(left.values()) <= max(0, nodes - done - sum(seen.values()))
