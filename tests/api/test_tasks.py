"""POST, GET, PATCH, PUT and DELETE of tasks."""

from __future__ import annotations

from collections.abc import Callable

from apps.quotas.models import Quota
from apps.tasks.domain.states import State
from apps.tasks.explanations import sentence
from apps.tasks.models import Revision, Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_deployment, a_job
from tests.support.world import World

Submitted = Callable[..., Task]


def test_a_submitted_task_is_answered_with_its_place_and_version(plant: World, caller: Caller) -> None:
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(), format="json")
    task = Task.objects.get()
    assert answer.status_code == 201, answer.content
    assert (answer["Location"], answer["ETag"]) == (f"/api/v1/tasks/{task.pk}", '"1"')
    body = answer.json()
    names = ("id", "state", "owner", "project", "attempt", "version", "cluster", "pool", "nodes_ready", "object_name")
    assert {name: body[name] for name in names} == {
        "id": str(task.pk),
        "state": "queued",
        "owner": "alice",
        "project": "map-team",
        "attempt": 1,
        "version": 1,
        "cluster": None,
        "pool": None,
        "nodes_ready": 0,
        "object_name": task.object_name,
    }


def test_quantities_come_back_as_exact_integers_and_as_text(plant: World, caller: Caller) -> None:
    container = a_container(cpu="1500m", memory="512Mi")
    body = caller(plant.alice).post("/api/v1/tasks", a_job(containers=[container]), format="json").json()
    written = {name: body["containers"][0][name] for name in ("cpu", "cpu_millicores", "memory", "memory_mib")}
    assert written == {"cpu": "1500m", "cpu_millicores": 1500, "memory": "512Mi", "memory_mib": 512}
    assert (body["shm"], body["shm_mib"]) == ("1Gi", 1024)


def test_a_task_in_ones_own_name_needs_no_project(plant: World, caller: Caller) -> None:
    plant.a_quota("cpu", 8000, user=plant.alice)
    plant.a_quota("memory", 65_536, user=plant.alice)
    own = a_job(project=None, resources={"nodes": 1})
    answer = caller(plant.alice).post("/api/v1/tasks", own, format="json")
    assert (answer.status_code, answer.json()["project"]) == (201, None)


def test_a_task_is_read_by_its_address(submitted: Submitted, plant: World, caller: Caller) -> None:
    task = submitted()
    answer = caller(plant.victor).get(f"/api/v1/tasks/{task.pk}")
    assert (answer.status_code, answer["ETag"], answer.json()["display_name"]) == (200, '"1"', "train-a")
    links = answer.json()["links"]
    assert caller(plant.victor).get(links["events"]).status_code == 200


def test_a_waiting_task_says_why_in_words_and_numbers(submitted: Submitted, plant: World, caller: Caller) -> None:
    task = submitted()
    numbers = {"asked": 2, "free": 1, "position": 3}
    Task.objects.filter(pk=task.pk).update(reason="PoolFull", reason_numbers=numbers, reason_since=task.queued_at)
    body = caller(plant.alice).get(f"/api/v1/tasks/{task.pk}").json()
    assert body["reason"] == {
        "token": "PoolFull",
        "text": sentence("PoolFull", numbers),
        "numbers": numbers,
        "since": "2026-12-01T12:00:00Z",
    }
    assert body["position"] == 3


def test_a_job_may_only_be_renamed(submitted: Submitted, plant: World, caller: Caller) -> None:
    task, client = submitted(), caller(plant.alice)
    renamed = client.patch(f"/api/v1/tasks/{task.pk}", {"display_name": "train-b"}, format="json")
    assert (renamed.status_code, renamed.json()["display_name"], renamed["ETag"]) == (200, "train-b", '"2"')
    changed = {"display_name": "train-c", "containers": [a_container(image="registry/train:2")], "shm": "2Gi"}
    refused = client.patch(f"/api/v1/tasks/{task.pk}", changed, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "immutable_field")
    assert {"containers.0.image", "shm"} <= set(refused.json()["fields"])
    task.refresh_from_db()
    assert (task.display_name, task.version) == ("train-b", 2)


def test_an_unchanged_whole_task_sent_back_changes_nothing(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_deployment(), format="json").json()
    answer = client.put(f"/api/v1/tasks/{made['id']}", made, format="json", HTTP_IF_MATCH='"1"')
    assert (answer.status_code, answer.json()["version"], Revision.objects.count()) == (200, 1, 1), answer.content


def test_a_deployment_is_changed_by_whoever_has_seen_its_version(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_deployment(), format="json").json()
    address, change = f"/api/v1/tasks/{made['id']}", {"containers": [a_container(image="registry/serve:2")]}
    blind = client.patch(address, change, format="json")
    assert (blind.status_code, blind.json()["code"]) == (428, "version_required")
    first = client.patch(address, change, format="json", HTTP_IF_MATCH='"1"')
    assert (first.status_code, first["ETag"], first.json()["revision"]) == (200, '"2"', 2)
    late = client.patch(address, {"shm": "2Gi"}, format="json", HTTP_IF_MATCH='"1"')
    assert (late.status_code, late.json()["code"], late.json()["present"]) == (412, "stale_version", 2)


def test_a_deleted_task_leaves_the_lists_and_gives_its_quota_back(
    submitted: Submitted, plant: World, caller: Caller
) -> None:
    task, client = submitted(), caller(plant.alice)
    answer = client.delete(f"/api/v1/tasks/{task.pk}")
    assert (answer.status_code, answer.json()["state"]) == (202, "stopped")
    assert client.get(f"/api/v1/tasks/{task.pk}").status_code == 404
    assert client.get("/api/v1/tasks").json()["results"] == []
    assert Quota.objects.get(resource="cards:rtx-4090").held == 0
    assert Task.objects.get(pk=task.pk).state == State.STOPPED


def test_too_little_quota_is_refused_with_the_numbers(plant: World, caller: Caller) -> None:
    Quota.objects.filter(resource="cards:rtx-4090").update(limit=1)
    client = caller(plant.alice)
    client.post("/api/v1/tasks", a_job("first"), format="json")
    answer = client.post("/api/v1/tasks", a_job("second"), format="json")
    body = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert {name: body[name] for name in ("code", "resource", "asked", "used", "limit")} == {
        "code": "quota_exceeded",
        "resource": "cards:rtx-4090",
        "asked": 1,
        "used": 1,
        "limit": 1,
    }
    assert Task.objects.count() == 1
