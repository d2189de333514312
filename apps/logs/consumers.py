"""The socket of one Task: its changes, its instances' and events, and its lines as they arrive (rest.md, WebSocket).

The client greets with ``{"type": "hello", "since": n}`` and may add ``"logs"``: false for none, or an object with
``after`` (the place of the last line it has), ``attempt``, ``instance``, ``container``, ``stream``, ``q``. A later
hello changes them. It is answered with what it missed, or ``resync``.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from apps.live.consumers import LiveConsumer
from apps.live.groups import task_group
from apps.live.payloads import LogNudge, Resync, TaskNudge
from apps.logs import feed
from apps.logs.domain.lines import LineFilter, StoredLine, parse_place
from apps.logs.selectors import store, wire
from apps.tasks import news
from apps.tasks.news import Known

BATCH = 500
LARGEST_MESSAGE = 256 * 1024


class TaskConsumer(LiveConsumer):
    """Everything that happens to one Task, for whoever may read it, for as long as they may."""

    async def enter(self) -> bool:
        self.pk: UUID = self.scope["url_route"]["kwargs"]["pk"]
        self.feed: feed.TaskFeed | None = None
        self.group = task_group(self.pk)
        await self.channel_layer.group_add(self.group, self.channel_name)
        known = await _off_loop(news.present)(self.user_id, self.pk)
        if known is None:
            return False
        self.known: Known = known
        self.owed: Resync | None = None
        self.wanted: LineFilter | None = LineFilter()
        self.arrival = await _off_loop(store().newest_arrival)(self.pk)
        self.feed = feed.join(self.pk, self.arrival)
        return True

    async def leave(self) -> None:
        await self.channel_layer.group_discard(self.group, self.channel_name)
        if self.feed is not None:
            feed.leave(self.feed)
            self.feed = None

    async def task_nudge(self, nudge: TaskNudge) -> None:
        self.wake()

    async def log_nudge(self, nudge: LogNudge) -> None:
        if self.feed is not None:
            self.feed.hint(nudge["arrival"])
        self.wake()

    async def greeting(self, hello: dict[str, Any]) -> None:
        since, logs = hello.get("since"), hello.get("logs", {})
        if isinstance(since, int) and not isinstance(since, bool) and 0 <= since <= self.known.seq:
            self.known = Known(since, self.known.event)
        else:
            # Nobody knows what this client has: it reads everything once more, behind our backs nothing happens now.
            self.owed = {"type": "resync", "seq": self.known.seq}
        self.wanted = _line_filter(logs) if isinstance(logs, dict) else None
        after = _arrival_of(logs.get("after")) if isinstance(logs, dict) else None
        if after is not None:
            self.arrival = min(self.arrival, after)

    async def deliver(self, *, tick: bool) -> bool:
        heard = await _off_loop(news.news)(self.user_id, self.pk, self.known)
        if heard is None:
            await self.turn_away()
            return False
        if tick and not await self.signed_in():
            return False
        if self.owed is not None:
            owed, self.owed = self.owed, None
            await self.say(owed)
        for message in heard.messages or ():
            await self.say(message)
        if heard.messages is None:
            await self.say({"type": "resync", "seq": heard.known.seq})
        self.known = heard.known
        return await self._deliver_lines(tick=tick)

    async def _deliver_lines(self, *, tick: bool) -> bool:
        if self.wanted is None or self.feed is None:
            return False
        if tick:
            self.feed.hint(None)
        found = _bounded(await self.feed.after(self.arrival, limit=BATCH))
        if not found:
            return False
        lines = [wire(line) for line in found if self.wanted.matches(line)]
        if lines:
            await self.say({"type": "log.lines", "lines": lines})
        self.arrival = found[-1].place.arrival
        return True


def _bounded(found: list[StoredLine]) -> list[StoredLine]:
    """As many lines as make one message of bearable size, one at least: a line may be a megabyte (failures F21)."""
    size = 0
    for count, line in enumerate(found):
        size += len(line.text)
        if size > LARGEST_MESSAGE and count:
            return found[:count]
    return found


def _line_filter(logs: dict[str, Any]) -> LineFilter:
    """What the client narrows lines by; whatever is no text or no number narrows nothing."""
    texts = {key: logs[key] for key in ("instance", "container", "stream", "q") if isinstance(logs.get(key), str)}
    attempt = logs.get("attempt")
    return LineFilter(attempt=attempt if isinstance(attempt, int) else None, **texts)


def _arrival_of(place: object) -> int | None:
    try:
        return parse_place(place).arrival if isinstance(place, str) else None
    except ValueError:
        return None


def _off_loop(read: Any) -> Any:
    return database_sync_to_async(read, thread_sensitive=False)
