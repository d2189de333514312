"""Pages of lines in both directions, narrowed, and whole logs in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from apps.logs import selectors
from apps.logs.domain.lines import LineFilter, Place
from apps.logs.ingest import ingest
from apps.logs.selectors import LinePage, lines
from apps.tasks.models import Task
from tests.support.running import a_batch, a_running_task, a_shipping_cluster, written
from tests.support.world import World

Page = Callable[..., LinePage]


@pytest.fixture
def task(world: World) -> Task:
    """A task that wrote ``line 0`` … ``line 9``, one a millisecond."""
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    ingest(cluster, a_batch(*(written(task, f"line {nth}", nth=nth) for nth in range(10))), now=world.now)
    return task


def numbers(page: LinePage) -> list[int]:
    return [int(line.text.split()[-1]) for line in page.lines]


def test_pages_forward_meet_without_gap_or_repeat(task: Task) -> None:
    seen, place = [], None
    while True:
        page = lines(task.pk, after=place, limit=3)
        seen += numbers(page)
        if page.next is None:
            break
        place = page.next
    assert seen == list(range(10))


def test_pages_backward_meet_without_gap_or_repeat(task: Task) -> None:
    seen: list[int] = [9]
    place: Place | None = lines(task.pk, tail=1).lines[0].place
    while place is not None:
        page = lines(task.pk, before=place, limit=4)
        seen = numbers(page) + seen
        place = page.previous
    assert seen == list(range(10))


@pytest.mark.parametrize(
    ("tail", "limit", "found", "more"), [(4, 100, [6, 7, 8, 9], False), (4, 2, [6, 7], True), (99, 3, [0, 1, 2], True)]
)
def test_the_tail_begins_at_the_nth_newest_line(
    task: Task, tail: int, limit: int, found: list[int], more: bool
) -> None:
    page = lines(task.pk, tail=tail, limit=limit)
    assert (numbers(page), page.next is not None) == (found, more)


def test_nothing_behind_the_last_place_is_an_empty_page(task: Task) -> None:
    last = lines(task.pk, tail=1).lines[-1].place
    assert lines(task.pk, after=last) == LinePage(())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"q": "LINE 7"}, [7]),
        ({"q": "%"}, []),
        ({"q": "_ine"}, []),
        ({"q": "\x00line 3"}, [3]),
        ({"container": "main", "stream": "stdout", "attempt": 1, "limit": 2}, [0, 1]),
        ({"stream": "stderr"}, []),
        ({"attempt": 2}, []),
        ({"instance": "uid-1", "limit": 1}, [0]),
        ({"instance": "other"}, []),
    ],
)
def test_a_reader_narrows_lines(task: Task, wanted: dict[str, Any], found: list[int]) -> None:
    assert numbers(lines(task.pk, **wanted)) == found


def test_since_counts_and_until_does_not(task: Task, world: World) -> None:
    start = world.now + timedelta(milliseconds=3)
    assert numbers(lines(task.pk, since=start, until=start + timedelta(milliseconds=2))) == [3, 4]


def test_f23_another_tasks_lines_are_never_shown(task: Task, world: World) -> None:
    other = a_running_task(world, task.attempts.get().cluster or pytest.fail("no cluster"), name="train-b")
    assert lines(other.pk) == LinePage(())


def test_arrivals_come_in_the_order_in_which_they_became_visible(task: Task, world: World) -> None:
    cluster = task.attempts.get().cluster or pytest.fail("no cluster")
    known = selectors.store().newest_arrival(task.pk)
    ingest(cluster, a_batch(written(task, "early but late", nth=5)), now=world.now)
    (late,) = selectors.store().arrivals(task.pk, after=known, limit=10)
    assert (late.text, late.place.arrival > known) == ("early but late", True)


def test_f22_a_download_is_made_of_bounded_pages(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "STREAM_PAGE", 4)

    async def whole() -> list[bytes]:
        return [piece async for piece in selectors.download(task.pk, LineFilter())]

    pieces = async_to_sync(whole)()
    assert [piece.count(b"\n") for piece in pieces] == [4, 4, 2]
    assert pieces[0].startswith(b"2026-12-01T12:00:00.000000000Z " + task.object_name.encode())


def test_a_place_of_the_wire_is_the_place_of_the_store(task: Task) -> None:
    first = lines(task.pk, limit=1).lines[0]
    assert Place(*first.place) == first.place
