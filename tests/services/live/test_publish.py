"""Telling browsers: after commit only, to those who may hear, never at the expense of the change."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import get_channel_layer
from django.db import transaction

from apps.live import publish
from apps.live.groups import EVERYTHING, project_group, scope_group, task_group, user_group

TASK = UUID("0b1f6a1e-3f2b-4c1d-9e8f-000000000001")


@dataclass(frozen=True)
class Told:
    id: UUID
    project_id: int | None = 3
    owner_id: int = 5
    seq: int = 9


async def heard_in(*groups: str, act: Any, wait: float = 1.0) -> list[dict[str, Any]]:
    """What one listener of these groups hears of ``act``, run in a thread as a service is."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    for group in groups:
        await layer.group_add(group, channel)
    await asyncio.to_thread(act)
    heard: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(wait):
            while len(heard) < len(groups):
                heard.append(await layer.receive(channel))
    except TimeoutError:
        pass
    return heard


def change(task: Told) -> None:
    with transaction.atomic():
        publish.task_changed(task)


@pytest.mark.django_db(transaction=True)
async def test_a_change_is_told_to_the_tasks_and_the_scopes_listeners() -> None:
    task = Told(uuid4())
    heard = await heard_in(task_group(task.id), project_group(3), EVERYTHING, act=lambda: change(task))
    nudge = {"type": "task.nudge", "change": "task.changed", "task": task.id.hex, "project": 3, "owner": 5, "seq": 9}
    assert heard == [nudge] * 3


@pytest.mark.django_db(transaction=True)
async def test_a_change_that_is_rolled_back_is_told_to_nobody() -> None:
    task = Told(uuid4())

    def roll_back() -> None:
        with transaction.atomic():
            publish.task_changed(task)
            transaction.set_rollback(True)

    assert await heard_in(task_group(task.id), act=roll_back, wait=0.4) == []


def test_a_personal_task_is_its_owners_scope() -> None:
    assert (scope_group(None, 5), scope_group(3, 5)) == (user_group(5), project_group(3))
    assert task_group(TASK) == "task-0b1f6a1e3f2b4c1d9e8f000000000001"


@pytest.mark.django_db(transaction=True)
def test_a_channel_layer_that_is_away_neither_breaks_nor_delays_a_transaction(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": ["redis://127.0.0.1:1"]}}
    }
    began = time.monotonic()
    for _ in range(50):
        change(Told(uuid4()))
    assert time.monotonic() - began < 1
