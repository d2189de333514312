"""Lines over the socket: all of them, in order, only the chosen ones, and none twice after a gap."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from channels.layers import get_channel_layer

from apps.clusters.models import Cluster
from apps.live.groups import task_group
from apps.logs import feed, selectors
from apps.logs.ingest import ingest
from apps.organisations import services as organisations
from apps.tasks.models import Task
from tests.support.running import a_batch, written
from tests.support.sockets import Browser, in_thread, task_socket
from tests.support.world import World


@pytest.fixture(autouse=True)
def _no_feed_outlives_its_viewers() -> Iterator[None]:
    """Memory is back to the start level once everyone has left (F24)."""
    yield
    assert feed._FEEDS == {}


async def write(world: World, cluster: Cluster, task: Task, numbers: Iterable[int]) -> None:
    batch = a_batch(*(written(task, f"line {nth}", nth=nth) for nth in numbers))
    await in_thread(ingest, cluster, batch, now=world.now)


def lines_of(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for message in messages if message["type"] == "log.lines" for line in message["lines"]]


async def hear_lines(browser: Browser, count: int) -> list[dict[str, Any]]:
    return lines_of(await browser.hear_until(lambda messages: len(lines_of(messages)) >= count, within=30))


async def test_a_line_arrives_as_rest_would_give_it(world: World, cluster: Cluster, task: Task) -> None:
    async with task_socket(task.pk, world.victor) as browser:
        await browser.hello(since=1)
        await write(world, cluster, task, [7])
        (line,) = await hear_lines(browser, 1)
    (stored,) = (await in_thread(selectors.lines, task.pk)).lines
    assert line == selectors.wire(stored)


async def test_two_hundred_lines_a_second_arrive_complete_and_in_order(
    world: World, cluster: Cluster, task: Task
) -> None:
    async def ship() -> None:
        for first in range(0, 600, 20):
            await write(world, cluster, task, range(first, first + 20))
            await asyncio.sleep(0.1)

    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        shipping = asyncio.create_task(ship())
        heard = await hear_lines(browser, 600)
        await shipping
    assert [line["text"] for line in heard] == [f"line {nth}" for nth in range(600)]
    assert heard == sorted(heard, key=lambda line: line["place"])


async def test_f24_five_thousand_lines_at_once_are_all_shown_though_nudges_are_lost(
    world: World, cluster: Cluster, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.live.consumers.TICK_SECONDS", 0.5)
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        assert await browser.silent(within=0.2)
        await get_channel_layer().group_discard(task_group(task.pk), "nobody")
        monkeypatch.setattr("apps.live.publish.log_lines", lambda *_: None)
        await asyncio.gather(*(write(world, cluster, task, range(n, n + 500)) for n in range(0, 5000, 500)))
        heard = await hear_lines(browser, 5000)
    assert sorted(line["text"] for line in heard) == sorted(f"line {nth}" for nth in range(5000))


async def test_after_a_gap_exactly_the_missed_lines_come(world: World, cluster: Cluster, task: Task) -> None:
    await write(world, cluster, task, range(5))
    last = (await in_thread(selectors.lines, task.pk)).lines[-1].place
    await write(world, cluster, task, [*range(5, 8), 2000, 1000])
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1, logs={"after": str(last)})
        heard = await hear_lines(browser, 5)
        assert await browser.silent()
    assert [line["text"] for line in heard] == ["line 5", "line 6", "line 7", "line 2000", "line 1000"]


async def test_a_line_that_arrives_late_with_an_early_time_is_not_missed(
    world: World, cluster: Cluster, task: Task
) -> None:
    await write(world, cluster, task, range(10, 15))
    last = (await in_thread(selectors.lines, task.pk)).lines[-1].place
    await write(world, cluster, task, [3])
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1, logs={"after": str(last)})
        assert [line["text"] for line in await hear_lines(browser, 1)] == ["line 3"]


@pytest.mark.parametrize(
    ("logs", "count"),
    [
        ({"instance": "uid-1", "container": "main", "q": "LINE"}, 1),
        ({"instance": "other"}, 0),
        ({"container": "side"}, 0),
        (False, 0),
        ({"attempt": 2}, 0),
    ],
)
async def test_f23_only_the_chosen_lines_come(
    world: World, cluster: Cluster, task: Task, logs: Any, count: int
) -> None:
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1, logs=logs)
        await asyncio.sleep(0.2)
        await write(world, cluster, task, [1])
        if count:
            assert len(await hear_lines(browser, count)) == count
        assert await browser.silent()


async def test_f21_lines_of_a_megabyte_come_one_by_one(world: World, cluster: Cluster, task: Task) -> None:
    batch = a_batch(*(written(task, "x" * (5 * 1024 * 1024), nth=nth) for nth in range(3)))
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        await in_thread(ingest, cluster, batch, now=world.now)
        heard = await browser.hear_until(lambda messages: len(lines_of(messages)) == 3)
    assert [len(message["lines"]) for message in heard] == [1, 1, 1]
    assert heard[0]["lines"][0]["text"].endswith("… [cut: 4194304 more bytes]")


async def test_viewers_of_one_task_share_one_reader(
    world: World, cluster: Cluster, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    plain = feed._arrivals

    async def counted(*args: Any) -> Any:
        reads.append(1)
        return await plain(*args)

    monkeypatch.setattr(feed, "_arrivals", counted)
    async with task_socket(task.pk, world.alice) as one, task_socket(task.pk, world.olga) as two:
        for browser in (one, two):
            await browser.hello(since=1)
        await write(world, cluster, task, range(20))
        assert [len(await hear_lines(browser, 20)) for browser in (one, two)] == [20, 20]
    assert len(reads) <= 2


async def test_lines_are_not_told_to_a_member_who_was_taken_out(world: World, cluster: Cluster, task: Task) -> None:
    async with task_socket(task.pk, world.victor) as browser:
        await browser.hello(since=1)
        await in_thread(organisations.remove_member, world.project, world.victor, by=world.olga, now=world.now)
        await write(world, cluster, task, [1])
        assert await browser.hear() == {"closed": 4404}
