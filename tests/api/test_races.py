"""Callers at the same moment: the books and the versions decide, never chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from apps.quotas.models import Quota
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_deployment, a_job
from tests.support.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(send: Callable[[int], int], count: int) -> Counter[int]:
    """How often each status came when ``send(0)`` … ``send(count - 1)`` run side by side."""

    def alone(number: int) -> int:
        try:
            return send(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return Counter(pool.map(alone, range(count)))


def test_eight_submissions_against_a_quota_of_four_make_exactly_four(plant: World, caller: Caller) -> None:
    Quota.objects.filter(resource="cards:rtx-4090").update(limit=4)
    client = caller(plant.alice)
    statuses = at_once(lambda n: client.post("/api/v1/tasks", a_job(f"train-{n}"), format="json").status_code, 8)
    assert statuses == {201: 4, 409: 4}
    assert (Task.objects.count(), Quota.objects.get(resource="cards:rtx-4090").held) == (4, 4)


def test_eight_of_the_same_name_make_one(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    statuses = at_once(lambda _n: client.post("/api/v1/tasks", a_job(), format="json").status_code, 8)
    assert statuses == {201: 1, 409: 7}
    assert Quota.objects.get(resource="cards:rtx-4090").held == 1


def test_of_writers_who_saw_the_same_version_one_wins(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_deployment(), format="json").json()

    def scale(number: int) -> int:
        body = {"nodes": 3 + number}
        answer = client.post(f"/api/v1/tasks/{made['id']}/scale", body, format="json", HTTP_IF_MATCH='"1"')
        return int(answer.status_code)

    assert at_once(scale, 4) == {202: 1, 412: 3}
    assert Task.objects.get().version == 2


def test_stopping_at_the_same_moment_is_harmless(plant: World, caller: Caller) -> None:
    client = caller(plant.alice)
    made = client.post("/api/v1/tasks", a_job(), format="json").json()
    statuses = at_once(lambda _n: client.post(f"/api/v1/tasks/{made['id']}/stop").status_code, 4)
    assert statuses[202] >= 1
    assert set(statuses) <= {202, 409}
    assert (Task.objects.get().state, Quota.objects.get(resource="cards:rtx-4090").held) == ("stopped", 0)
