"""Lines as they arrive, one JSON object a line, for as long as the caller listens and may read (rest.md, follow)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import orjson
from channels.db import database_sync_to_async
from django.http import Http404

from apps.accounts.models import User
from apps.logs import access, feed, selectors
from apps.logs.domain.lines import LineFilter, Place, StoredLine
from apps.tasks.domain.states import FINAL
from apps.tasks.models import Task

PAUSE_SECONDS = 0.5
STRAGGLER_SECONDS = 5.0
"""How long lines are waited for after the task has ended: shippers deliver later than the cluster tells."""
BATCH = 500


def written(lines: Iterable[StoredLine]) -> bytes:
    """The lines as NDJSON."""
    return b"".join(orjson.dumps(selectors.wire(line)) + b"\n" for line in lines)


async def all_lines(user: User, task: Task, wanted: LineFilter, *, after: Place) -> AsyncIterator[bytes]:
    """Every line there is now, in order."""
    async for page in selectors.stream_lines(task.pk, wanted, after=after):
        yield written(page)


async def following(user: User, task: Task, wanted: LineFilter, *, after: Place) -> AsyncIterator[bytes]:
    """Every line there is, then each new one as it arrives, none twice; ends with the task or the right to read it."""
    arrival = await database_sync_to_async(selectors.store().newest_arrival)(task.pk)
    early: set[Place] = set()
    async for page in selectors.stream_lines(task.pk, wanted, after=after):
        # What arrived while the past was read would come again with the new lines.
        early |= {line.place for line in page if line.place.arrival > arrival}
        yield written(page)
    shared = feed.join(task.pk, arrival)
    try:
        silence = 0.0
        while silence < STRAGGLER_SECONDS:
            shared.hint(None)
            found = await shared.after(arrival, limit=BATCH)
            fresh = [line for line in found if line.place not in early and wanted.matches(line)]
            if fresh:
                yield written(fresh)
            if found:
                arrival, silence = found[-1].place.arrival, 0.0
                continue
            ended = await database_sync_to_async(_has_ended)(user.pk, task)
            if ended is None:
                return
            silence = silence + PAUSE_SECONDS if ended else 0.0
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        feed.leave(shared)


def _has_ended(user_id: int, task: Task) -> bool | None:
    """Whether no more lines are to come; None when the person may not read the task any more."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    try:
        return None if user is None else access.task_of_lines(user, task.pk).state in FINAL
    except Http404:
        return None
