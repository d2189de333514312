"""The newest lines of a Task as they arrive, read once from the store for all viewers of this process."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from dataclasses import dataclass, field
from uuid import UUID

from channels.db import database_sync_to_async

from apps.logs.domain.lines import StoredLine
from apps.logs.selectors import store

KEPT = 4000
READ = 1000


@dataclass(slots=True)
class TaskFeed:
    """Holds every line with ``floor`` < arrival ≤ ``ceiling``; who is further behind reads the store."""

    task_id: UUID
    floor: int
    lines: list[StoredLine] = field(default_factory=list)
    viewers: int = 0
    _newest: int = 0
    _doubtful: bool = False
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def ceiling(self) -> int:
        return self.lines[-1].place.arrival if self.lines else self.floor

    def hint(self, arrival: int | None) -> None:
        """A nudge told of lines up to ``arrival``; None: there may be some that no nudge told of."""
        self._newest = max(self._newest, arrival or 0)
        self._doubtful = self._doubtful or arrival is None

    async def after(self, arrival: int, *, limit: int) -> list[StoredLine]:
        """At most ``limit`` lines behind ``arrival``, in order of arrival."""
        if arrival < self.floor:
            return await _arrivals(self.task_id, arrival, limit)
        async with self._reading:
            if self._doubtful or self._newest > self.ceiling:
                await self._read_on()
        if arrival < self.floor:
            return await _arrivals(self.task_id, arrival, limit)
        begin = bisect_right(self.lines, arrival, key=lambda line: line.place.arrival)
        return self.lines[begin : begin + limit]

    async def _read_on(self) -> None:
        self._doubtful = False
        try:
            fresh = await _arrivals(self.task_id, self.ceiling, READ)
        except BaseException:
            self._doubtful = True
            raise
        self._doubtful = self._doubtful or len(fresh) == READ
        self.lines += fresh
        if len(self.lines) > KEPT:
            self.floor = self.lines[-KEPT - 1].place.arrival
            del self.lines[:-KEPT]


async def _arrivals(task_id: UUID, after: int, limit: int) -> list[StoredLine]:
    read = database_sync_to_async(store().arrivals, thread_sensitive=False)
    found: list[StoredLine] = await read(task_id, after=after, limit=limit)
    return found


_FEEDS: dict[tuple[int, UUID], TaskFeed] = {}


def join(task_id: UUID, newest: int) -> TaskFeed:
    """The Task's feed of this event loop, begun at arrival ``newest`` when there is none."""
    feed = _FEEDS.setdefault(_key(task_id), TaskFeed(task_id, floor=newest))
    feed.viewers += 1
    return feed


def leave(feed: TaskFeed) -> None:
    """The last viewer to leave takes the feed's memory along."""
    feed.viewers -= 1
    if feed.viewers <= 0:
        _FEEDS.pop(_key(feed.task_id), None)


def _key(task_id: UUID) -> tuple[int, UUID]:
    return id(asyncio.get_running_loop()), task_id
