"""Machines as rows: cards counted once, pools kept, silence harmless (F03, F18)."""

from __future__ import annotations

from typing import Any

import pytest

from apps.clusters.gateway.kube.reflector import Complete, Deleted, Delta, Seen
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import ObjectRef, Resource
from apps.clusters.models import AcceleratorType, Node
from apps.clusters.observer import record_nodes
from apps.clusters.services import assign_pool, label_nodes
from tests.support.world import World


def a_node(name: str = "n1", *, uid: str = "u1", mark: str = "a100-80g", **status: Any) -> dict[str, Any]:
    amounts = {"cpu": "56", "memory": "966656Mi", "nvidia.com/gpu": "8"}
    return {
        "metadata": {"name": name, "uid": uid, "labels": {"platform/mark": mark}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
            **status,
        },
    }


@pytest.fixture
def mark(world: World) -> AcceleratorType:
    return world.a_mark("a100-80g")


def seen(*items: dict[str, Any]) -> list[Seen]:
    return [Seen(Resource.NODE, item) for item in items]


def test_a_node_is_recorded_whole(world: World, mark: AcceleratorType) -> None:
    cluster = world.a_cluster()
    record_nodes(cluster, seen(a_node()), now=world.now)
    row = Node.objects.get()
    facts = (row.cpu, row.memory, row.cards, row.cards_capacity, row.mark, row.ready, row.unschedulable, row.taints)
    taint = {"key": "gpu", "value": "", "effect": "NoSchedule"}
    assert facts == (56_000, 966_656, 8, 8, mark, True, False, [taint])


def test_f03_withdrawn_cards_are_faulty_and_not_missing(world: World, mark: AcceleratorType) -> None:
    allocatable = {"cpu": "56", "memory": "944Gi", "nvidia.com/gpu": "5"}
    record_nodes(world.a_cluster(), seen(a_node(allocatable=allocatable)), now=world.now)
    row = Node.objects.get()
    assert (row.cards_capacity, row.cards) == (8, 5)


def test_f03_two_nodes_of_a_kind_are_two_and_two_resource_names_are_one(world: World, mark: AcceleratorType) -> None:
    both = {"cpu": "56", "memory": "944Gi", "nvidia.com/gpu": "1", "nvidia.com/gpu.shared": "1"}
    nodes = [a_node(name, uid=name, capacity=both, allocatable=both) for name in ("n1", "n2")]
    world.a_mark("a100-shared", resource_name="nvidia.com/gpu.shared", node_selector={"platform/mark": "a100-80g"})
    record_nodes(world.a_cluster(), seen(*nodes), now=world.now)
    assert [(row.mark, row.cards) for row in Node.objects.all()] == [(mark, 1), (mark, 1)]


def test_a_new_node_joins_the_pool_its_label_names_and_keeps_its_own_ever_after(world: World) -> None:
    cluster, public, other = world.a_cluster(), world.a_pool("public"), world.a_pool("other")
    item = a_node()
    item["metadata"]["labels"]["platform/pool"] = "public"
    record_nodes(cluster, seen(item), now=world.now)
    joined = Node.objects.get().pool
    item["metadata"]["labels"]["platform/pool"] = "other"
    record_nodes(cluster, seen(item), now=world.now)
    assert (joined, Node.objects.get().pool, other.nodes.count()) == (public, public, 0)


def test_a_node_that_went_and_came_back_under_a_new_uid_is_there(world: World) -> None:
    cluster = world.a_cluster()
    record_nodes(cluster, seen(a_node(uid="old")), now=world.now)
    batch: list[Delta] = [Deleted(Resource.NODE, a_node(uid="old")), Seen(Resource.NODE, a_node(uid="new"))]
    record_nodes(cluster, batch, now=world.now)
    row = Node.objects.get()
    assert (row.uid, row.gone_at) == ("new", None)


def test_a_node_missing_from_a_whole_list_is_gone(world: World) -> None:
    cluster = world.a_cluster()
    record_nodes(cluster, seen(a_node("n1", uid="u1"), a_node("n2", uid="u2")), now=world.now)
    record_nodes(cluster, [Complete(Resource.NODE, frozenset({"u2"}))], now=world.now)
    assert [(row.name, row.gone_at) for row in Node.objects.all()] == [("n1", world.now), ("n2", None)]


@pytest.mark.parametrize(
    "broken",
    [
        {"status": None},
        {"spec": None},
        {
            "status": {
                "capacity": None,
                "allocatable": {"cpu": None, "memory": "lots", "nvidia.com/gpu": "x"},
                "conditions": None,
                "images": [{"names": None}],
            }
        },
        {"spec": {"taints": [None, {"key": None}]}},
    ],
)
def test_f18_an_odd_node_is_recorded_as_far_as_it_goes(world: World, broken: dict[str, Any]) -> None:
    record_nodes(
        world.a_cluster(), seen({**a_node("odd", uid="odd"), **broken}, a_node("whole", uid="w")), now=world.now
    )
    assert set(Node.objects.values_list("name", flat=True)) == {"odd", "whole"}


def test_a_node_put_into_a_pool_is_labelled_on_its_cluster(world: World) -> None:
    cluster, pool, gateway = world.a_cluster(), world.a_pool("public"), MemoryGateway()
    gateway.put(Resource.NODE, a_node())
    record_nodes(cluster, seen(*gateway.everything(Resource.NODE)), now=world.now)
    assign_pool(list(Node.objects.all()), pool, by=world.ada, now=world.now)
    changed = label_nodes(cluster, gateway=gateway)
    record_nodes(cluster, seen(*gateway.everything(Resource.NODE)), now=world.now)
    labels = gateway.everything(Resource.NODE)[0]["metadata"]["labels"]
    assert (changed, labels["platform/pool"], label_nodes(cluster, gateway=gateway)) == (1, "public", 0)


def test_a_node_of_a_mark_selected_by_other_labels_gets_its_mark_written_and_kept(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway()
    world.a_mark("a100-80g", node_selector={"nvidia.com/gpu.product": "A100"})
    metadata = {"name": "n1", "uid": "u1", "labels": {"nvidia.com/gpu.product": "A100"}}
    gateway.put(Resource.NODE, {**a_node(), "metadata": metadata})

    def after_a_check(**labels: str | None) -> str | None:
        gateway.merge(ObjectRef(Resource.NODE, "n1"), {"metadata": {"labels": labels}})
        for _round in range(2):
            record_nodes(cluster, seen(*gateway.everything(Resource.NODE)), now=world.now)
            label_nodes(cluster, gateway=gateway)
        found: str | None = gateway.everything(Resource.NODE)[0]["metadata"]["labels"].get("platform/mark")
        return found

    assert after_a_check() == "a100-80g"
    assert after_a_check(**{"platform/mark": "wrong"}) == "a100-80g"
    assert after_a_check(**{"platform/mark": None}) == "a100-80g"
    assert after_a_check(**{"nvidia.com/gpu.product": None}) is None
