"""A task's lines: pages, the whole log as text, and a stream that keeps on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection
from django.test import AsyncClient

from apps.accounts.services import issue_full_token
from apps.kernel import clock
from apps.logs.api import streams
from apps.logs.ingest import ingest
from apps.organisations.models import Membership
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.support.running import a_batch, a_running_task, a_shipping_cluster, written
from tests.support.world import World


def lines(task: Task, first: int, count: int) -> bytes:
    return a_batch(*(written(task, f"line {number}", nth=number) for number in range(first, first + count)))


@pytest.fixture
def no_lines(db: None) -> Iterator[None]:
    """Django's flush between committing tests does not know the partitions of lines."""
    with connection.cursor() as before:
        before.execute("TRUNCATE logs_logline")
    yield
    with connection.cursor() as after:
        after.execute("TRUNCATE logs_logline")


@pytest.fixture
def running(world: World, no_lines: None) -> Task:
    """A running task with twelve lines."""
    world.shipping = cluster = a_shipping_cluster(world)  # type: ignore[attr-defined]  # only these tests look at it
    task = a_running_task(world, cluster)
    ingest(cluster, lines(task, 0, 12), now=world.now)
    return task


def test_a_line_is_told_with_its_origin_and_place(running: Task, world: World, caller: Caller) -> None:
    body = caller(world.alice).get(f"/api/v1/tasks/{running.pk}/logs?limit=1").json()
    (line,) = body["lines"]
    place = line.pop("place")
    assert line == {
        "at": "2026-12-01T12:00:00.000000000Z",
        "attempt": 1,
        "instance": f"{running.object_name}-x7k2p",
        "container": "main",
        "stream": "stdout",
        "text": "line 0",
    }
    assert body["next"] == place


def test_next_leads_through_every_line_once(running: Task, world: World, caller: Caller) -> None:
    client, address, found = caller(world.victor), f"/api/v1/tasks/{running.pk}/logs?limit=5", []
    after = ""
    while after is not None:
        body = client.get(address + (f"&after={after}" if after else "")).json()
        found += [line["text"] for line in body["lines"]]
        after = body["next"]
    assert found == [f"line {number}" for number in range(12)]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("q=LINE 1", 3),
        ("container=main", 12),
        ("container=other", 0),
        ("instance=uid-of-nobody", 0),
        ("stream=stderr", 0),
        ("attempt=1", 12),
        ("attempt=2", 0),
        ("since=2026-12-02T00:00:00Z", 0),
        ("until=2026-12-01T12:00:00Z", 0),
        ("tail=4", 4),
    ],
)
def test_lines_are_narrowed(running: Task, world: World, caller: Caller, query: str, count: int) -> None:
    answer = caller(world.alice).get(f"/api/v1/tasks/{running.pk}/logs?{query}")
    assert (answer.status_code, len(answer.json()["lines"])) == (200, count)


@pytest.mark.parametrize(
    "query",
    ["after=x", "before=1", "limit=0", "limit=5001", "stream=both", "since=noon", "q=%00", "attempt=-1", "follow=yes"],
)
def test_a_wrong_parameter_is_named(running: Task, world: World, caller: Caller, query: str) -> None:
    answer = caller(world.alice).get(f"/api/v1/tasks/{running.pk}/logs?{query}")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [query.partition("=")[0]])


def test_lines_need_their_own_scope(running: Task, world: World, caller: Caller) -> None:
    answer = caller(world.alice, "tasks:read").get(f"/api/v1/tasks/{running.pk}/logs")
    assert (answer.status_code, answer.json()["scope"]) == (403, "logs:read")


def streamed(world: World, address: str, meanwhile: Callable[[], None] = lambda: None, **headers: str) -> Any:
    """The answer and all it sends; ``meanwhile`` happens once the first portion has come.

    Run by ``async_to_sync``, so that the view's own thread is the test's, with the test's connection.
    """
    text = issue_full_token(world.alice, name="stream", now=clock.now())

    async def read() -> tuple[Any, bytes]:
        answer: Any = await AsyncClient().get(address, headers={"Authorization": f"Bearer {text}", **headers})
        parts: list[bytes] = []
        async with asyncio.timeout(20):
            async for part in answer.streaming_content:
                if not parts:
                    await sync_to_async(meanwhile)()
                parts.append(part)
        return answer, b"".join(parts)

    return async_to_sync(read)()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(streams, "STRAGGLER_SECONDS", 0.1)


def texts(content: bytes) -> list[str]:
    return [json.loads(row)["text"] for row in content.splitlines()]


@pytest.mark.django_db(transaction=True)
def test_f22_the_whole_log_is_sent_as_text_in_portions(running: Task, world: World) -> None:
    answer, content = streamed(world, f"/api/v1/tasks/{running.pk}/logs?download=1")
    rows = content.decode().splitlines()
    assert (len(rows), rows[0].endswith("main stdout line 0")) == (12, True)
    assert (answer["Content-Type"], answer["Content-Disposition"]) == (
        "text/plain; charset=utf-8",
        f'attachment; filename="{running.object_name}.log"',
    )


@pytest.mark.django_db(transaction=True)
def test_lines_are_streamed_as_one_object_a_line(running: Task, world: World) -> None:
    _answer, content = streamed(world, f"/api/v1/tasks/{running.pk}/logs", Accept="application/x-ndjson")
    assert texts(content) == [f"line {number}" for number in range(12)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("impatient")
def test_a_follower_gets_each_line_once_until_the_task_ends(running: Task, world: World) -> None:
    def meanwhile() -> None:
        ingest(world.shipping, lines(running, 8, 8), now=world.now)  # type: ignore[attr-defined]  # as in running
        Task.objects.filter(pk=running.pk).update(state="succeeded", finished_at=world.now)

    address = f"/api/v1/tasks/{running.pk}/logs?follow=1"
    _answer, content = streamed(world, address, meanwhile, Accept="application/x-ndjson")
    assert texts(content) == [f"line {number}" for number in range(16)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("impatient")
def test_f26_a_follower_who_leaves_the_project_hears_no_more(running: Task, world: World) -> None:
    def meanwhile() -> None:
        Membership.objects.filter(user=world.alice).delete()

    address = f"/api/v1/tasks/{running.pk}/logs?follow=1"
    _answer, content = streamed(world, address, meanwhile, Accept="application/x-ndjson")
    assert len(texts(content)) == 12
