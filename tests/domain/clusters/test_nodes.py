"""A machine as its cluster describes it, read tolerantly (F03, F18)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.nodes import NodeFacts, read_node
from apps.kernel.resources import MiB, Millicores

BY_PRODUCT = MarkFacts("a100", "nvidia.com/gpu", 8, Millicores(7_000), MiB(1), {"product": "A100"})
BY_PRODUCT_AND_SIZE = MarkFacts(
    "a100-80g", "nvidia.com/gpu", 8, Millicores(7_000), MiB(1), {"product": "A100", "gb": "80"}
)
BY_RESOURCE = MarkFacts("orin", "platform/orin", 1, Millicores(0), MiB(0), is_device=True)
MARKS = (BY_PRODUCT, BY_PRODUCT_AND_SIZE, BY_RESOURCE)
AMOUNTS = {"cpu": "56", "memory": "4Gi", "nvidia.com/gpu": "8"}


def a_node(labels: Any = None, **changes: Any) -> dict[str, Any]:
    status = {
        "capacity": AMOUNTS,
        "allocatable": AMOUNTS,
        "conditions": [{"type": "Ready", "status": "True"}],
        **changes,
    }
    return {"metadata": {"name": "n1", "uid": "u1", "labels": labels}, "spec": {}, "status": status}


def test_a_node_is_read_whole() -> None:
    node = a_node({"product": "A100"}, allocatable=AMOUNTS | {"nvidia.com/gpu": "7"})
    node["spec"] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}, "odd"], "unschedulable": True}
    assert read_node(node, MARKS) == NodeFacts(
        name="n1",
        uid="u1",
        cpu=56_000,
        memory=4_096,
        cards=7,
        cards_capacity=8,
        mark="a100",
        labels={"product": "A100"},
        taints=[{"key": "gpu", "value": "", "effect": "NoSchedule"}],
        ready=True,
        unschedulable=True,
    )


@pytest.mark.parametrize(
    ("labels", "capacity", "mark"),
    [
        ({"product": "A100", "gb": "80"}, AMOUNTS, "a100-80g"),
        ({"product": "A100"}, {}, "a100"),
        ({}, {"platform/orin": "1"}, "orin"),
        ({}, AMOUNTS, None),
        (None, AMOUNTS, None),
        ({"product": "A100"}, {"platform/orin": "1"}, "orin"),
    ],
)
def test_the_mark_is_the_most_exact_one_whose_cards_are_there(labels: Any, capacity: Any, mark: str | None) -> None:
    assert read_node(a_node(labels, capacity=capacity), MARKS).mark == mark


@pytest.mark.parametrize("amount", ["lots", "-1", "", None, "1.5", "999999999"])
def test_an_odd_amount_is_nothing_or_bounded(amount: str | None) -> None:
    odd = {"cpu": amount, "memory": amount, "nvidia.com/gpu": amount}
    found = read_node(a_node({"product": "A100"}, capacity=odd, allocatable=odd), MARKS)
    assert found.cards <= found.cards_capacity <= 10_000
    assert min(found.cpu, found.memory, found.cards) >= 0


@pytest.mark.parametrize(
    ("conditions", "leaving", "ready"),
    [
        ([{"type": "Ready", "status": "True"}], None, True),
        ([None, {"type": "Ready", "status": "Unknown"}], None, False),
        ([{"type": "MemoryPressure", "status": "True"}], None, False),
        (None, None, False),
        ([{"type": "Ready", "status": "True"}], "2026-12-01T12:00:00Z", False),
    ],
)
def test_ready_is_what_says_so_and_is_not_leaving(conditions: Any, leaving: str | None, ready: bool) -> None:
    node = a_node(conditions=conditions)
    node["metadata"]["deletionTimestamp"] = leaving
    assert read_node(node, MARKS).ready is ready


json = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*AMOUNTS, "labels", "taints", "conditions", "capacity"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), json))
def test_f18_any_json_is_read_as_some_node(item: dict[str, Any]) -> None:
    assert read_node(item, MARKS).cards >= 0
