"""The socket of one Task: who may listen, what is told, what is made up for after a gap."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from apps.live import publish
from apps.organisations import services as organisations
from apps.organisations.models import Membership
from apps.tasks.domain.states import State
from apps.tasks.models import Task
from apps.tasks.services import moves
from tests.support.running import an_event, an_instance
from tests.support.sockets import in_thread, task_socket
from tests.support.world import World


def pause(task: Task, world: World) -> None:
    with transaction.atomic():
        moves.move(task, expected=[State.RUNNING], to=State.PAUSING, now=world.now)
        moves.note(task, "Pausing", now=world.now, by=world.alice)


def summary(messages: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(message["type"], message["seq"]) for message in messages]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (None, {"closed": 4401}),
        ("charlie", {"closed": 4404}),
        ("victor", {"type": "resync", "seq": 1}),
        ("alice", {"type": "resync", "seq": 1}),
        ("olga", {"type": "resync", "seq": 1}),
        ("ada", {"type": "resync", "seq": 1}),
        ("otto", {"type": "resync", "seq": 1}),
    ],
)
async def test_readers_of_a_task_hear_of_it_and_strangers_learn_nothing(
    world: World, task: Task, name: str | None, answer: dict[str, Any]
) -> None:
    async with task_socket(task.pk, getattr(world, name) if name else None) as browser:
        await browser.hello(since=None)
        assert await browser.hear() == answer


async def test_a_task_that_does_not_exist_is_like_one_of_strangers(world: World) -> None:
    async with task_socket(uuid4(), world.alice) as browser:
        assert await browser.hear() == {"closed": 4404}


async def test_a_change_is_told_with_its_event_and_the_present_state(world: World, task: Task) -> None:
    async with task_socket(task.pk, world.victor) as browser:
        await browser.hello(since=1)
        await in_thread(pause, task, world)
        heard = await browser.hear_until(lambda messages: len(messages) == 2)
    assert summary(heard) == [("event.added", 2), ("task.changed", 2)]
    assert (heard[0]["event"]["token"], heard[1]["task"]["state"]) == ("Pausing", "pausing")


async def test_an_instances_change_is_told(world: World, task: Task) -> None:
    def start() -> None:
        with transaction.atomic():
            moves.touch(task, nodes_ready=1)
            an_instance(task, world, node="gpu-0", restarts=1)

    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        await in_thread(start)
        heard = await browser.hear_until(lambda messages: len(messages) == 2)
    assert summary(heard) == [("instance.changed", 2), ("task.changed", 2)]
    assert (heard[0]["instance"]["node"], heard[0]["instance"]["restarts"]) == ("gpu-0", 1)


async def test_what_happened_during_a_gap_is_told_after_it(world: World, task: Task) -> None:
    await in_thread(pause, task, world)
    await in_thread(moves.touch, task, nodes_ready=1)
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        heard = await browser.hear_until(lambda messages: len(messages) == 2)
        assert await browser.silent()
    assert summary(heard) == [("event.added", 2), ("task.changed", 3)]


@pytest.mark.parametrize("since", [None, "one", True, -1, 99, 1.5])
async def test_whoever_cannot_say_what_it_has_is_told_to_read_again(world: World, task: Task, since: Any) -> None:
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=since)
        assert await browser.hear() == {"type": "resync", "seq": 1}


async def test_whoever_missed_nothing_is_told_nothing(world: World, task: Task) -> None:
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        assert await browser.silent()


async def test_whoever_missed_too_much_is_told_to_read_again(world: World, task: Task) -> None:
    def much() -> None:
        for number in range(501):
            an_event(task, world, token=f"e{number}", seq=2)
        Task.objects.update(seq=2)

    await in_thread(much)
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        assert await browser.hear() == {"type": "resync", "seq": 2}


async def test_a_client_that_never_greets_hears_of_changes_all_the_same(world: World, task: Task) -> None:
    async with task_socket(task.pk, world.alice) as browser:
        await in_thread(pause, task, world)
        heard = await browser.hear_until(lambda messages: len(messages) == 2)
    assert summary(heard) == [("event.added", 2), ("task.changed", 2)]


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "7", '{"type": "hello"' + "[" * 30_000, '{"type": "other"}'])
async def test_nonsense_from_a_client_changes_nothing(world: World, task: Task, text: str) -> None:
    async with task_socket(task.pk, world.alice) as browser:
        await browser.say(text)
        await browser.hello(since=None)
        assert await browser.hear() == {"type": "resync", "seq": 1}


async def test_a_member_who_is_taken_out_hears_nothing_more(world: World, task: Task) -> None:
    async with task_socket(task.pk, world.victor) as browser:
        await browser.hello(since=1)
        assert await browser.silent(within=0.3)
        await in_thread(organisations.remove_member, world.project, world.victor, by=world.olga, now=world.now)
        await in_thread(pause, task, world)
        assert await browser.hear() == {"closed": 4404}


async def test_a_person_who_is_locked_out_hears_nothing_more(world: World, task: Task) -> None:
    async with task_socket(task.pk, world.ada) as browser:
        await browser.hello(since=1)
        await in_thread(type(world.ada).objects.filter(pk=world.ada.pk).update, is_active=False)
        await in_thread(pause, task, world)
        assert await browser.hear() == {"closed": 4404}


async def test_a_change_that_no_nudge_told_is_found_by_the_tick(
    world: World, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.live.consumers.TICK_SECONDS", 0.3)
    monkeypatch.setattr(publish, "task_changed", lambda *_, **__: None)
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        assert await browser.silent(within=0.2)
        await in_thread(pause, task, world)
        heard = await browser.hear_until(lambda messages: len(messages) == 2)
    assert summary(heard) == [("event.added", 2), ("task.changed", 2)]


async def test_a_silent_socket_is_kept_open_by_pings(world: World, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.live.consumers.TICK_SECONDS", 0.1)
    monkeypatch.setattr("apps.live.consumers.PING_SECONDS", 0.3)
    async with task_socket(task.pk, world.alice) as browser:
        await browser.hello(since=1)
        output = await browser._socket.receive_output(timeout=3)
    assert output["text"] == '{"type":"ping"}'


async def test_the_membership_that_tests_take_away_was_there(world: World) -> None:
    assert await in_thread(Membership.objects.filter(user=world.victor).count) == 1
