"""A call sent twice under one Idempotency-Key is done once (rest.md)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from apps.quotas.models import Quota
from apps.rest.models import IdempotencyRecord
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_job
from tests.support.world import World

KEY: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "nightly-2026-12-01"}


def test_the_same_key_and_body_give_the_first_answer_again(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    first = client.post("/api/v1/tasks", a_job(), format="json", **KEY)
    again = client.post("/api/v1/tasks", a_job(), format="json", **KEY)
    assert "Idempotency-Replayed" not in first
    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (201, "true", first.json())
    assert (again["Location"], again["ETag"]) == (first["Location"], first["ETag"])
    assert (Task.objects.count(), Quota.objects.get(resource="cards:rtx-4090").held) == (1, 1)


def test_the_same_key_with_another_body_is_refused(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    client.post("/api/v1/tasks", a_job(), format="json", **KEY)
    answer = client.post("/api/v1/tasks", a_job("train-b"), format="json", **KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert Task.objects.count() == 1


def test_two_people_may_use_the_same_key(plant: World, caller: Caller) -> None:
    for person, name in ((plant.alice, "a"), (plant.olga, "b")):
        assert caller(person).post("/api/v1/tasks", a_job(name), format="json", **KEY).status_code == 201
    assert Task.objects.count() == 2


def test_a_refusal_frees_its_key(plant: World, caller: Caller) -> None:
    client, quota = caller(plant.alice), Quota.objects.filter(resource="cards:rtx-4090")
    quota.update(limit=0)
    assert client.post("/api/v1/tasks", a_job(), format="json", **KEY).status_code == 409
    quota.update(limit=1)
    assert client.post("/api/v1/tasks", a_job(), format="json", **KEY).status_code == 201


def test_a_key_is_forgotten_after_a_day(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    client.post("/api/v1/tasks", a_job(), format="json", **KEY)
    record = IdempotencyRecord.objects.get()
    IdempotencyRecord.objects.update(created_at=record.created_at - timedelta(hours=24, seconds=1))
    assert client.post("/api/v1/tasks", a_job("train-b"), format="json", **KEY).status_code == 201
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_an_unusable_key_is_refused(plant: World, caller: Caller, key: str) -> None:
    answer = caller(plant.alice).post("/api/v1/tasks", a_job(), format="json", HTTP_IDEMPOTENCY_KEY=key)
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["Idempotency-Key"])


def test_a_clone_is_made_once(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_job(), format="json").json()
    answers = [client.post(f"/api/v1/tasks/{made['id']}/clone", **KEY).json()["id"] for _ in range(2)]
    assert (len(set(answers)), Task.objects.count()) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_eight_at_the_same_moment_make_one_task(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)

    def send(_number: int) -> tuple[int, str]:
        try:
            answer = client.post("/api/v1/tasks", a_job(), format="json", **KEY)
            return answer.status_code, answer.json()["id"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(send, range(8)))
    task = Task.objects.get()
    assert answers == {(201, str(task.pk))}
    assert Quota.objects.get(resource="cards:rtx-4090").held == 1
