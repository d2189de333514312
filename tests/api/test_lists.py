"""The task list: filters, order, pages by key, and the same number of queries for any length (F26, F32)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.tasks.domain import spec as specs
from apps.tasks.models import Attempt, Task
from tests.api.conftest import Caller
from tests.support.world import World, a_spec

Submitted = Callable[..., Task]


def many(world: World, count: int, *, project: Any = None, owner: Any = None, prefix: str = "t") -> list[Task]:
    """Rows as submission leaves them, without its work: lists only read."""
    tasks = [
        Task(
            kind="Job",
            display_name=f"{prefix}-{number}",
            object_name=f"{prefix}-{number}-x",
            owner=owner or world.alice,
            project=project or world.project,
            priority="normal",
            mark="rtx-4090",
            spec=specs.to_json(a_spec(f"{prefix}-{number}")),
            created_at=world.now + timedelta(seconds=number // 2),
            queued_at=world.now,
        )
        for number in range(count)
    ]
    made = Task.objects.bulk_create(tasks)
    Attempt.objects.bulk_create(
        Attempt(task=task, number=1, object_name=task.object_name, created_at=world.now) for task in made
    )
    return made


def names(answer: Any) -> list[str]:
    """The first part of each object's name, which the builders above keep equal to the task's."""
    return [row["object_name"].removesuffix("-x") for row in answer.json()["results"]]


def walk(client: APIClient, address: str | None, direction: str = "next") -> list[list[str]]:
    pages = []
    while address is not None:
        answer = client.get(address)
        assert answer.status_code == 200, answer.content
        pages.append(names(answer))
        address = answer.json()[direction]
    return pages


@pytest.mark.parametrize("order", ["-created_at", "created_at", "display_name", "-state", "queued_at"])
def test_every_row_is_met_once_on_the_way_there_and_back(world: World, caller: Caller, order: str) -> None:
    many(world, 23)
    client = caller(world.alice)
    there = walk(client, f"/api/v1/tasks?limit=5&order={order}")
    flat = [name for page in there for name in page]
    assert ([len(page) for page in there], len(set(flat))) == ([5, 5, 5, 5, 3], 23)
    last = client.get(f"/api/v1/tasks?limit=5&order={order}").json()
    for _page in there[1:]:
        last = client.get(last["next"]).json()
    back = walk(client, last["previous"], "previous")
    assert back == there[-2::-1]


def test_a_row_that_comes_meanwhile_moves_no_page(world: World, caller: Caller) -> None:
    many(world, 6)
    client = caller(world.alice)
    first = client.get("/api/v1/tasks?limit=2").json()
    Task.objects.filter(display_name="t-0").update(created_at=world.now + timedelta(days=1))
    assert sorted(names(client.get(first["next"]))) == ["t-2", "t-3"]


def test_a_cursor_keeps_its_filters(world: World, caller: Caller) -> None:
    many(world, 4)
    many(world, 4, owner=world.olga, prefix="o")
    pages = walk(caller(world.alice), "/api/v1/tasks?limit=3&owner=olga&order=display_name")
    assert pages == [["o-0", "o-1", "o-2"], ["o-3"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("state=running&state=paused", ["b", "c"]),
        ("kind=Deployment", []),
        ("priority=low", ["c"]),
        ("mark=a100-80g", ["b"]),
        ("project=map-team", ["a", "b", "c"]),
        ("project=map-team&project=sim-team", ["a", "b", "c"]),
        ("project=sim-team", []),
        ("owner=alice", ["a", "b", "c"]),
        ("cluster=beijing", ["b"]),
        ("q=B", ["b"]),
        ("created_after=2026-12-01T12:00:01Z", ["b", "c"]),
        ("created_before=2026-12-01T20:00:01%2B08:00", ["a"]),
        ("created_after=2026-12-01T12:00:01Z&created_before=2026-12-01T12:00:02Z", ["b"]),
    ],
)
def test_filters_narrow(plant: World, caller: Caller, query: str, found: list[str]) -> None:
    for number, (task, name) in enumerate(zip(many(plant, 3), "abc", strict=True)):
        at = plant.now + timedelta(seconds=number)
        Task.objects.filter(pk=task.pk).update(display_name=name, object_name=f"{name}-x", created_at=at)
    Task.objects.filter(display_name="b").update(state="running", mark="a100-80g")
    Task.objects.filter(display_name="c").update(state="paused", priority="low")
    Attempt.objects.filter(task__display_name="b").update(cluster=plant.cluster, pool=plant.pool, admitted_at=plant.now)
    assert names(caller(plant.alice).get(f"/api/v1/tasks?order=display_name&{query}")) == found


@pytest.mark.parametrize("address", ["/api/v1/tasks?limit=200", "/api/v1/quotas?limit=200", "/api/v1/projects"])
def test_f32_ten_and_a_thousand_tasks_cost_the_same_queries(world: World, caller: Caller, address: str) -> None:
    client = caller(world.alice)
    client.get(address)
    counts = []
    for count in (10, 1000):
        Attempt.objects.all().delete()
        Task.objects.all().delete()
        many(world, count)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(address).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 6


@pytest.mark.parametrize(
    "query",
    [
        "",
        "project=sim-team",
        "project=map-team&project=sim-team",
        "owner=charlie",
        "q=secret",
        "ordering=project__name",
        "order=display_name&limit=1",
        "project__name=sim-team",
        "mark=rtx-4090",
    ],
)
def test_f26_no_filter_or_order_tells_of_foreign_tasks(world: World, caller: Caller, query: str) -> None:
    many(world, 2, project=world.foreign_project, owner=world.charlie, prefix="secret")
    client = caller(world.alice)
    before = client.get(f"/api/v1/tasks?{query}").json()
    Task.objects.all().update(state="running")
    assert client.get(f"/api/v1/tasks?{query}").json() == before == {"results": [], "next": None, "previous": None}


def test_f26_a_foreign_cursor_opens_nothing(world: World, caller: Caller) -> None:
    many(world, 3, project=world.foreign_project, owner=world.charlie, prefix="secret")
    foreign = caller(world.charlie).get("/api/v1/tasks?limit=1").json()["next"]
    assert names(caller(world.alice).get(foreign)) == []


def test_an_administrator_and_an_auditor_see_every_scope(world: World, caller: Caller, now: datetime) -> None:
    many(world, 1)
    many(world, 1, project=world.foreign_project, owner=world.charlie, prefix="sim")
    for person in (world.ada, world.otto):
        assert names(caller(person).get("/api/v1/tasks?order=display_name")) == ["sim-0", "t-0"]
