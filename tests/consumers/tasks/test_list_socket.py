"""The socket of a list: changes of the Tasks a person may read, of no other, and a resync after every gap."""

from __future__ import annotations

from typing import Any

import pytest

from apps.clusters.models import Cluster
from apps.live import publish
from apps.organisations import services as organisations
from apps.organisations.domain.roles import Role
from apps.tasks.domain.states import State
from apps.tasks.models import Task
from apps.tasks.services import moves
from tests.support.running import a_running_task
from tests.support.sockets import Browser, in_thread, list_socket
from tests.support.world import World


def pause(task: Task, world: World) -> None:
    moves.move(task, expected=[State.RUNNING], to=State.PAUSING, now=world.now)


async def greeted(browser: Browser, since: int | None = None) -> None:
    await browser.hello(since=since)
    assert (await browser.hear())["type"] == "resync"


async def test_nobody_without_a_session_listens(db: None) -> None:
    async with list_socket(None) as browser:
        assert await browser.hear() == {"closed": 4401}


@pytest.mark.parametrize("name", ["olga", "alice", "victor", "ada", "otto"])
async def test_a_change_is_told_to_everyone_who_lists_the_task(world: World, task: Task, name: str) -> None:
    async with list_socket(getattr(world, name)) as browser:
        await greeted(browser)
        await in_thread(pause, task, world)
        heard = await browser.hear()
    assert (heard["type"], heard["seq"], heard["task"]["id"], heard["task"]["state"]) == (
        "task.changed",
        2,
        str(task.pk),
        "pausing",
    )


async def test_a_stranger_hears_nothing(world: World, task: Task) -> None:
    async with list_socket(world.charlie) as browser:
        await greeted(browser)
        await in_thread(pause, task, world)
        assert await browser.silent()


async def test_a_personal_task_is_its_owners_alone(world: World, cluster: Cluster) -> None:
    own = await in_thread(a_running_task, world, cluster, name="mine", owner=world.charlie)
    async with list_socket(world.charlie) as owner, list_socket(world.olga) as other:
        await greeted(owner)
        await greeted(other)
        await in_thread(pause, own, world)
        assert (await owner.hear())["task"]["display_name"] == "mine"
        assert await other.silent()


async def test_a_list_goes_on_counting_after_a_gap_and_is_told_to_read_again(world: World) -> None:
    async with list_socket(world.alice) as browser:
        await browser.hello(since=41)
        assert await browser.hear() == {"type": "resync", "seq": 42}


async def test_the_deletion_of_a_task_is_told(world: World, task: Task) -> None:
    async with list_socket(world.alice) as browser:
        await greeted(browser)
        await in_thread(moves.touch, task, deleted_at=world.now)
        assert (await browser.hear())["task"]["deleted"] is True


async def test_a_member_who_is_taken_out_hears_nothing_more(world: World, task: Task) -> None:
    async with list_socket(world.victor) as browser:
        await greeted(browser)
        await in_thread(organisations.remove_member, world.project, world.victor, by=world.olga, now=world.now)
        await in_thread(pause, task, world)
        assert await browser.hear() == {"type": "resync", "seq": 2}
        assert await browser.silent()


async def test_a_new_member_is_told_to_read_again_and_hears_of_the_project(
    world: World, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.live.consumers.TICK_SECONDS", 0.2)
    async with list_socket(world.charlie) as browser:
        await greeted(browser)
        await in_thread(
            organisations.set_member, world.project, world.charlie, Role.VIEWER, by=world.olga, now=world.now
        )
        assert await browser.hear() == {"type": "resync", "seq": 2}
        await in_thread(pause, task, world)
        assert (await browser.hear())["type"] == "task.changed"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("?project=map-team&kind=Job", True),
        ("?kind=Deployment", False),
        ("?project=sim-team", False),
        ("?state=succeeded", True),
    ],
)
async def test_filters_on_what_never_changes_are_kept(world: World, task: Task, query: str, told: bool) -> None:
    async with list_socket(world.alice, query) as browser:
        await greeted(browser)
        await in_thread(pause, task, world)
        assert (not await browser.silent()) is told


async def test_a_change_that_no_nudge_told_ends_in_a_resync(
    world: World, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.live.consumers.TICK_SECONDS", 0.3)
    monkeypatch.setattr(publish, "task_changed", lambda *_, **__: None)
    async with list_socket(world.alice) as browser:
        await greeted(browser)
        await in_thread(pause, task, world)
        assert await browser.hear() == {"type": "resync", "seq": 2}


async def test_two_hundred_changes_at_once_are_told_once_each_or_as_a_resync(world: World, task: Task) -> None:
    def often() -> None:
        for number in range(200):
            moves.touch(task, nodes_ready=number)

    def settled(messages: list[dict[str, Any]]) -> bool:
        last = messages[-1] if messages else {}
        return last.get("type") == "resync" or last.get("task", {}).get("nodes_ready") == 199

    async with list_socket(world.alice) as browser:
        await greeted(browser)
        await in_thread(often)
        heard = await browser.hear_until(settled)
    assert len(heard) < 100
