"""Pause, resume, restart, stop, scale, roll back and clone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apps.audit.models import AuditEvent
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_deployment
from tests.support.world import World

Submitted = Callable[..., Task]


@pytest.fixture
def deployed(plant: World, caller: Caller) -> str:
    """The address of a Deployment of two instances."""
    made = caller(plant.alice).post("/api/v1/tasks", a_deployment(), format="json").json()
    return f"/api/v1/tasks/{made['id']}"


def test_a_task_is_paused_twice_resumed_and_stopped(submitted: Submitted, plant: World, caller: Caller) -> None:
    client, address = caller(plant.alice), f"/api/v1/tasks/{submitted().pk}"
    answers = [client.post(f"{address}/{verb}") for verb in ("pause", "pause", "resume", "stop")]
    assert [(answer.status_code, answer.json()["state"]) for answer in answers] == [
        (202, "paused"),
        (202, "paused"),
        (202, "queued"),
        (202, "stopped"),
    ]


@pytest.mark.parametrize("verb", ["pause", "resume", "stop"])
def test_what_has_ended_takes_no_more_of_it(submitted: Submitted, plant: World, caller: Caller, verb: str) -> None:
    client, address = caller(plant.alice), f"/api/v1/tasks/{submitted().pk}"
    client.post(f"{address}/stop")
    answer = client.post(f"{address}/{verb}")
    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_state")


def test_a_restart_begins_the_next_attempt(submitted: Submitted, plant: World, caller: Caller) -> None:
    client, address = caller(plant.alice), f"/api/v1/tasks/{submitted().pk}"
    client.post(f"{address}/stop")
    answer = client.post(f"{address}/restart")
    assert (answer.status_code, answer.json()["state"], answer.json()["attempt"]) == (202, "queued", 2)


def test_scaling_changes_the_number_alone(deployed: str, plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    answer = client.post(f"{deployed}/scale", {"nodes": 5}, format="json")
    assert (answer.status_code, answer.json()["resources"]["nodes"], answer.json()["revision"]) == (202, 5, 1)
    late = client.post(f"{deployed}/scale", {"nodes": 1}, format="json", HTTP_IF_MATCH='"1"')
    assert (late.status_code, late.json()["present"]) == (412, 2)


@pytest.mark.parametrize("nodes", [-1, 10**6, "3", 1.5, True, None])
def test_no_number_of_instances_is_refused_at_its_field(
    deployed: str, plant: World, caller: Caller, nodes: object
) -> None:
    answer = caller(plant.alice).post(f"{deployed}/scale", {"nodes": nodes}, format="json")
    assert (answer.status_code, answer.json()["code"], list(answer.json()["fields"])) == (422, "invalid", ["nodes"])


def test_an_earlier_revision_comes_back_as_a_new_one(deployed: str, plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    change = {"containers": [a_container(image="registry/serve:2")]}
    client.patch(deployed, change, format="json", HTTP_IF_MATCH='"1"')
    answer = client.post(f"{deployed}/rollback", {"revision": 1}, format="json")
    body = answer.json()
    assert (answer.status_code, body["revision"], body["containers"][0]["image"]) == (202, 3, "registry/train:1")
    unknown = client.post(f"{deployed}/rollback", {"revision": 9}, format="json")
    assert (unknown.status_code, list(unknown.json()["fields"])) == (422, ["revision"])


def test_a_clone_is_a_new_task_with_changes(submitted: Submitted, plant: World, caller: Caller) -> None:
    task = submitted()
    changes = {"changes": {"display_name": "train-b", "shm": "2Gi"}}
    answer = caller(plant.alice).post(f"/api/v1/tasks/{task.pk}/clone", changes, format="json")
    body = answer.json()
    assert (answer.status_code, body["display_name"], body["shm"]) == (201, "train-b", "2Gi")
    assert body["id"] != str(task.pk)
    assert answer["Location"] == f"/api/v1/tasks/{body['id']}"


def test_a_clone_without_changes_gets_a_free_name(submitted: Submitted, plant: World, caller: Caller) -> None:
    answer = caller(plant.alice).post(f"/api/v1/tasks/{submitted().pk}/clone")
    assert (answer.status_code, answer.json()["display_name"]) == (201, "train-a-copy")


def test_a_misspelt_body_is_not_taken_for_done(submitted: Submitted, plant: World, caller: Caller) -> None:
    answer = caller(plant.alice).post(f"/api/v1/tasks/{submitted().pk}/pause", {"untill": "noon"}, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["untill"])


def test_every_verb_is_audited_with_the_callers_address_and_token(
    submitted: Submitted, plant: World, caller: Caller
) -> None:
    caller(plant.alice).post(f"/api/v1/tasks/{submitted().pk}/pause")
    event = AuditEvent.objects.filter(subject_type="tasks.task").latest("id")
    assert (event.actor_name, event.source.split()[0], event.source.split()[1][:4]) == ("alice", "127.0.0.1", "ptk_")
