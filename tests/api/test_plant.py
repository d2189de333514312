"""Clusters, nodes, pools and resources."""

from __future__ import annotations

from collections.abc import Callable

from apps.clusters.models import Cluster
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.support.world import World

Submitted = Callable[..., Task]


def test_a_cluster_tells_whether_it_answers_and_nothing_of_its_credentials(plant: World, caller: Caller) -> None:
    plant.a_cluster("shanghai", unreachable_since=plant.now)
    Cluster.objects.update(credentials=b"sealed", ingest_digest="")
    answer = caller(plant.charlie).get("/api/v1/clusters")
    rows = answer.json()["results"]
    assert [(row["name"], row["reachable"], row["enabled"]) for row in rows] == [
        ("beijing", True, True),
        ("shanghai", False, True),
    ]
    assert "sealed" not in answer.content.decode()
    assert "server" not in rows[0]


def test_a_node_tells_what_is_free(plant: World, caller: Caller) -> None:
    rows = caller(plant.charlie).get("/api/v1/clusters/beijing/nodes").json()["results"]
    assert [row["name"] for row in rows] == ["cpu-0", "gpu-0", "gpu-1"]
    names = ("pool", "mark", "ready", "cordoned", "free", "cards_built_in", "cards_faulty")
    assert {name: rows[1][name] for name in names} == {
        "pool": "public",
        "mark": "rtx-4090",
        "ready": True,
        "cordoned": False,
        "free": {"cpu": "160", "cpu_millicores": 160_000, "memory": "808Gi", "memory_mib": 827_392, "cards": 8},
        "cards_built_in": 8,
        "cards_faulty": 0,
    }
    assert caller(plant.alice).get("/api/v1/clusters/nowhere/nodes").status_code == 404


def test_resources_tell_each_kind_of_card(plant: World, caller: Caller) -> None:
    body = caller(plant.alice).get("/api/v1/resources").json()
    (mark,) = body["marks"]
    cards = {"free_cards": 16, "total_cards": 16}
    assert mark == {
        "mark": "rtx-4090",
        "label": "rtx-4090",
        "resource": "nvidia.com/gpu",
        "is_device": False,
        "cards_per_node": 8,
        "cores_per_card": "20",
        "cpu_millicores_per_card": 20_000,
        "memory_mib_per_card": 103_424,
        "price_per_card_hour": 0,
        "clusters": [{"cluster": "beijing", "reachable": True, **cards, "pools": [{"pool": "public", **cards}]}],
    }
    assert body["cpu"]["largest_free_node"]["cpu_millicores"] == 64_000


def test_f26_a_foreign_projects_pool_is_neither_named_nor_counted(plant: World, caller: Caller) -> None:
    own = plant.a_pool("sim-own", project=plant.foreign_project)
    plant.a_node(plant.cluster, "gpu-9", pool=own, mark=plant.mark)
    for address in ("/api/v1/pools", "/api/v1/resources", "/api/v1/clusters/beijing/nodes"):
        assert "sim-" not in caller(plant.alice).get(address).content.decode()
        assert "sim-own" in caller(plant.charlie).get(address).content.decode()
    total = caller(plant.alice).get("/api/v1/resources").json()["marks"][0]["clusters"][0]["total_cards"]
    assert total == 16


def test_pools_tell_whose_they_are(plant: World, caller: Caller) -> None:
    plant.a_pool("own", project=plant.project, lend_idle=True)
    rows = caller(plant.alice).get("/api/v1/pools").json()["results"]
    assert rows == [
        {"name": "own", "kind": "project", "project": "map-team", "lend_idle": True},
        {"name": "public", "kind": "public", "project": None, "lend_idle": False},
    ]
