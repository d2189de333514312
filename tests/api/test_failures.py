"""Failures that others have had (shared/cases), each as a call of REST."""

from __future__ import annotations

from typing import Any

import pytest

from apps.quotas.models import Quota, Reservation
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_deployment, a_job
from tests.support.world import World


@pytest.mark.parametrize("resources", [{"cards_per_node": 0}, {"cards_per_node": None}, {}, None])
def test_f04_no_card_asked_is_counted_in_cpu_and_memory_only(
    plant: World, caller: Caller, resources: dict[str, Any] | None
) -> None:
    Quota.objects.filter(resource="cards:rtx-4090").update(limit=0)
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(resources=resources), format="json")
    assert answer.status_code == 201, answer.content
    held = dict(Quota.objects.filter(project=plant.project).values_list("resource", "held"))
    assert held == {"cards:rtx-4090": 0, "cpu": 4000, "memory": 16_384}


def test_f04_no_quota_row_means_none_and_the_resource_really_exceeded_is_named(plant: World, caller: Caller) -> None:
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(project=None), format="json")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "quota_exceeded")
    assert {name: body[name] for name in ("resource", "asked", "used", "limit")} == {
        "resource": "cards:rtx-4090",
        "asked": 1,
        "used": 0,
        "limit": 0,
    }


@pytest.mark.parametrize(
    ("changes", "code", "largest"),
    [
        ({"resources": {"mark": "rtx-4090", "cards_per_node": 9, "nodes": 1}}, "impossible_request", "8"),
        ({"resources": {"mark": "h900", "cards_per_node": 1, "nodes": 1}}, "unknown_mark", "rtx-4090"),
        ({"resources": {}, "containers": [a_container(cpu="65")]}, "impossible_request", "64"),
        ({"resources": {}, "containers": [a_container(memory="262145Mi")]}, "impossible_request", "256Gi"),
    ],
)
def test_f05_what_no_node_could_ever_hold_is_refused_with_the_largest_possible(
    plant: World, caller: Caller, changes: dict[str, Any], code: str, largest: str
) -> None:
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(**changes), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert largest in answer.content.decode()
    assert (Task.objects.count(), Reservation.objects.count()) == (0, 0)


def test_f27_names_that_look_alike_are_distinct_on_the_cluster(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    long = "a" * 50
    names = ["train", "tRain", "test1", "test11", f"{long}-one", f"{long}-two", "a-b"]
    made = [client.post("/api/v1/tasks", a_job(name), format="json").json()["object_name"] for name in names]
    assert len(set(made)) == len(names)
    assert all(len(name) <= 40 for name in made)


def test_f27_a_true_duplicate_is_refused_and_a_name_freed_by_deletion_is_free(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    first = client.post("/api/v1/tasks", a_job(), format="json").json()
    twin = client.post("/api/v1/tasks", a_job(), format="json")
    assert (twin.status_code, twin.json()["code"], list(twin.json()["fields"])) == (
        409,
        "duplicate_name",
        ["display_name"],
    )
    client.delete(f"/api/v1/tasks/{first['id']}")
    again = client.post("/api/v1/tasks", a_job(), format="json")
    assert again.status_code == 201
    assert again.json()["object_name"] != first["object_name"]


def test_f27_two_people_may_have_the_same_name_in_their_own_names(plant: World, caller: Caller) -> None:
    for person in (plant.alice, plant.charlie):
        for resource in ("cpu", "memory"):
            plant.a_quota(resource, 65_536, user=person)
        own = a_job(project=None, resources={})
        assert caller(person).post("/api/v1/tasks", own, format="json").status_code == 201


@pytest.mark.parametrize("length", [52, 53, 58, 63, 64, 253])
def test_f28_a_name_is_as_long_as_every_suffix_allows_or_refused_at_its_field(
    plant: World, caller: Caller, length: int
) -> None:
    name = "t" * (length - 1) + "-"
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(name), format="json")
    if length > 63:
        assert (answer.status_code, list(answer.json()["fields"])) == (422, ["display_name"])
    else:
        found = answer.json()["object_name"]
        assert (answer.status_code, len(found) <= 40, "--" in found) == (201, True, False)


@pytest.mark.parametrize("value", [True, False, None, 5, 1.10, ["yes"], {"a": "b"}])
def test_f29_an_environment_value_that_is_no_text_is_refused_with_its_key(
    plant: World, caller: Caller, value: object
) -> None:
    container = a_container(env={"DEBUG": value})
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(containers=[container]), format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["containers.0.env.DEBUG"])


def test_f29_texts_are_kept_letter_for_letter(plant: World, caller: Caller) -> None:
    env = {"DEBUG": "yes", "COUNTRY": "NO", "VERSION": "1.10", "ID": "0123", "T": "12:30", "D": "2025-01-01", "N": ""}
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_job(containers=[a_container(env=env)]), format="json").json()
    assert client.get(f"/api/v1/tasks/{made['id']}").json()["containers"][0]["env"] == env


def test_f30_scaling_leaves_the_template_and_late_writers_are_told(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_deployment(), format="json").json()
    address = f"/api/v1/tasks/{made['id']}"
    for nodes in (3, 2, 3, 4, 5, 6, 7):
        assert client.post(f"{address}/scale", {"nodes": nodes}, format="json").status_code == 202
    task = client.get(address).json()
    assert (task["resources"]["nodes"], task["revision"], task["containers"]) == (7, 1, made["containers"])
    late = client.post(f"{address}/scale", {"nodes": 1}, format="json", HTTP_IF_MATCH='"7"')
    assert (late.status_code, late.json()["present"]) == (412, 8)
