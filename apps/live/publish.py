"""Tell whoever looks: after commit only, and never at the expense of the change itself.

Sending happens on one background event loop per process, so a Valkey that is slow or away neither delays nor breaks a
transaction. What is lost then is found by the readers' own tick (consumers compare with the database).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from django.db import transaction

from apps.live.groups import EVERYTHING, scope_group, task_group
from apps.live.payloads import Change, LogNudge, TaskNudge

SEND_SECONDS = 2.0
MOST_WAITING = 2000
logger = structlog.get_logger(__name__)


class TaskLike(Protocol):
    """What is told of a Task."""

    @property
    def id(self) -> UUID: ...
    @property
    def project_id(self) -> int | None: ...
    @property
    def owner_id(self) -> int: ...
    @property
    def seq(self) -> int: ...


def task_changed(task: TaskLike, kind: Change = "task.changed") -> None:
    """Once this transaction is through, tell those who look at the Task and those whose lists show it."""
    nudge: TaskNudge = {
        "type": "task.nudge",
        "change": kind,
        "task": task.id.hex,
        "project": task.project_id,
        "owner": task.owner_id,
        "seq": task.seq,
    }
    groups = (task_group(task.id), scope_group(task.project_id, task.owner_id), EVERYTHING)
    transaction.on_commit(partial(_OUTBOX.send, groups, nudge))


def log_lines(task_id: UUID, arrival: int) -> None:
    """Once this transaction is through, tell those who look at the Task that lines up to ``arrival`` are stored."""
    nudge: LogNudge = {"type": "log.nudge", "task": task_id.hex, "arrival": arrival}
    transaction.on_commit(partial(_OUTBOX.send, (task_group(task_id),), nudge))


class _Outbox:
    """A daemon thread with an event loop, started at the first send of each process (a fork has none)."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._waiting = 0

    def send(self, groups: tuple[str, ...], message: Mapping[str, Any]) -> None:
        """Hand the message over and return at once; beyond ``MOST_WAITING`` unsent ones it is dropped."""
        loop = self._running_loop()
        if self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        asyncio.run_coroutine_threadsafe(self._deliver(groups, dict(message)), loop)

    async def _deliver(self, groups: tuple[str, ...], message: dict[str, Any]) -> None:
        layer = get_channel_layer()
        try:
            async with asyncio.timeout(SEND_SECONDS):
                for group in groups:
                    await layer.group_send(group, message)
        except Exception as fault:  # noqa: BLE001 - whatever the layer raises, the change itself is committed already
            logger.warning("live message not sent, readers find the change at their next tick", fault=repr(fault))
        finally:
            self._waiting -= 1

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid, self._waiting = asyncio.new_event_loop(), os.getpid(), 0
                threading.Thread(target=self._loop.run_forever, name="live-outbox", daemon=True).start()
            return self._loop


_OUTBOX = _Outbox()
