"""Instances, revisions and their differences, events and attempts of a task."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from apps.tasks.models import Instance, Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_deployment
from tests.support.world import World

Submitted = Callable[..., Task]


def an_instance(task: Task, name: str, now: datetime) -> Instance:
    container = {"name": "main", "state": "running", "restarts": 1, "exit_code": None, "reason": ""}
    return Instance.objects.create(
        attempt=task.attempts.get(number=1),
        uid=f"uid-{name}",
        name=name,
        node="gpu-0",
        state="running",
        restarts=1,
        containers=[container],
        started_at=now,
        first_seen_at=now,
    )


def test_an_instance_is_told_with_its_containers(
    submitted: Submitted, plant: World, caller: Caller, now: datetime
) -> None:
    task = submitted()
    an_instance(task, "train-0", now)
    body = caller(plant.alice).get(f"/api/v1/tasks/{task.pk}/instances").json()
    assert body == {
        "results": [
            {
                "name": "train-0",
                "uid": "uid-train-0",
                "state": "running",
                "node": "gpu-0",
                "restarts": 1,
                "exit_code": None,
                "reason": "",
                "message": "",
                "started_at": "2026-12-01T12:00:00Z",
                "gone_at": None,
                "containers": [{"name": "main", "state": "running", "restarts": 1, "exit_code": None, "reason": ""}],
            }
        ],
        "next": None,
        "previous": None,
    }


def test_another_attempt_has_its_own_instances(
    submitted: Submitted, plant: World, caller: Caller, now: datetime
) -> None:
    task = submitted()
    an_instance(task, "train-0", now)
    client = caller(plant.alice)
    assert client.get(f"/api/v1/tasks/{task.pk}/instances?attempt=2").json()["results"] == []
    assert client.get(f"/api/v1/tasks/{task.pk}/instances?attempt=x").status_code == 422


@pytest.fixture
def changed(plant: World, caller: Caller) -> str:
    """The address of a Deployment whose second revision has another image."""
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_deployment(), format="json").json()
    containers = [a_container(image="registry/serve:2", ports=[{"port": 8080, "name": "http"}])]
    client.patch(f"/api/v1/tasks/{made['id']}", {"containers": containers}, format="json", HTTP_IF_MATCH='"1"')
    return f"/api/v1/tasks/{made['id']}"


def test_revisions_stand_newest_first_with_their_spec(changed: str, plant: World, caller: Caller) -> None:
    rows = caller(plant.victor).get(f"{changed}/revisions").json()["results"]
    assert [(row["number"], row["author"], row["spec"]["containers"][0]["image"]) for row in rows] == [
        (2, "alice", "registry/serve:2"),
        (1, "alice", "registry/train:1"),
    ]


def test_a_difference_names_each_field(changed: str, plant: World, caller: Caller) -> None:
    client, image = caller(plant.victor), "containers.0.image"
    rows = [{"path": image, "before": "registry/train:1", "after": "registry/serve:2"}]
    assert client.get(f"{changed}/revisions/2/diff?against=1").json() == {"revision": 2, "against": 1, "changes": rows}
    assert client.get(f"{changed}/revisions/2/diff").json()["against"] == 1
    assert client.get(f"{changed}/revisions/2/diff?against=7").status_code == 404
    assert client.get(f"{changed}/revisions/99999999999999999999/diff").status_code == 404


def test_events_say_who_did_what(submitted: Submitted, plant: World, caller: Caller) -> None:
    task = submitted()
    rows = caller(plant.victor).get(f"/api/v1/tasks/{task.pk}/events").json()["results"]
    names = ("token", "text", "source", "actor", "warning", "attempt")
    assert [{name: row[name] for name in names} for row in rows] == [
        {
            "token": "Submitted",
            "text": "Submitted.",
            "source": "person",
            "actor": "alice",
            "warning": False,
            "attempt": 1,
        }
    ]


def test_attempts_stand_newest_first(submitted: Submitted, plant: World, caller: Caller) -> None:
    task, client = submitted(), caller(plant.alice)
    for verb in ("stop", "restart"):
        client.post(f"/api/v1/tasks/{task.pk}/{verb}")
    rows = client.get(f"/api/v1/tasks/{task.pk}/attempts").json()["results"]
    assert [(row["number"], row["object_name"], row["cluster"]) for row in rows] == [
        (2, f"{task.object_name}-2", None),
        (1, task.object_name, None),
    ]
