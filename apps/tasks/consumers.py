"""The socket of a task list: which Tasks changed, for everyone who may read them (rest.md, WebSocket).

``seq`` counts the messages of this listener, on from the ``since`` of its hello. Tasks have no common number, so a
listener that was away is told to ``resync`` instead of being told what it missed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async

from apps.kernel import clock
from apps.live.consumers import LiveConsumer
from apps.live.groups import EVERYTHING, project_group, user_group
from apps.live.payloads import TaskNudge
from apps.tasks import news
from apps.tasks.news import Scopes

MOST_AT_ONCE = 200
RECENT = timedelta(minutes=2)
FILTERS = {"kind": "kind", "priority": "priority", "mark": "mark"}
"""Filters on what never changes about a Task. One that compares its state must not hide that it just left the list."""


class TaskListConsumer(LiveConsumer):
    """Changes of all Tasks in the person's scopes; scopes are looked up afresh before anything is told."""

    async def enter(self) -> bool:
        self.heard_of: dict[UUID, TaskNudge] = {}
        self.groups_joined: frozenset[str] = frozenset()
        self.seq, self.owed = 0, False
        query = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace")[:4000])
        self.filters = {name: frozenset(values) for name, values in query.items()}
        scopes = await _off_loop(news.scopes_of)(self.user_id)
        if scopes is None:
            return False
        await self._join(_groups(scopes))
        self.print = await self._fingerprint()
        return True

    async def leave(self) -> None:
        await self._join(frozenset())

    async def task_nudge(self, nudge: TaskNudge) -> None:
        if len(self.heard_of) < MOST_AT_ONCE:
            self.heard_of[UUID(nudge["task"])] = nudge
        else:
            self.owed = True
        self.wake()

    async def greeting(self, hello: dict[str, Any]) -> None:
        since = hello.get("since")
        if isinstance(since, int) and not isinstance(since, bool) and since >= 0:
            self.seq = max(self.seq, since)
        self.owed = True

    async def deliver(self, *, tick: bool) -> bool:
        scopes = await _off_loop(news.scopes_of)(self.user_id)
        if scopes is None:
            await self.turn_away()
            return False
        if tick and not await self.signed_in():
            return False
        await self._follow(scopes)
        nudged, self.heard_of = self.heard_of, {}
        if tick and await self._missed_something():
            self.owed = True
        if self.owed:
            self.owed = False
            self.print = await self._fingerprint()
            self.seq += 1
            await self.say({"type": "resync", "seq": self.seq})
        elif nudged:
            await self._tell(scopes, nudged)
        return False

    async def _tell(self, scopes: Scopes, nudged: dict[UUID, TaskNudge]) -> None:
        for task in await _off_loop(news.changed_tasks)(list(nudged)):
            if scopes.hold(task.project_id, task.owner_id) and self._asked_for(task):
                self.seq += 1
                await self.say(news.task_changed(task, seq=self.seq))
        self.print = await self._fingerprint()

    async def _follow(self, scopes: Scopes) -> None:
        """Membership changed: hear of the new scopes, no more of the old ones, and read the list again."""
        groups = _groups(scopes)
        if groups != self.groups_joined:
            await self._join(groups)
            self.owed = True

    async def _missed_something(self) -> bool:
        before, self.print = self.print, await self._fingerprint()
        return bool(before[1] != self.print[1] and not self.heard_of)

    async def _fingerprint(self) -> tuple[int, int]:
        found: tuple[int, int] = await _off_loop(news.fingerprint)(self.user_id, recent=clock.now() - RECENT)
        return found

    async def _join(self, groups: frozenset[str]) -> None:
        for group in groups - self.groups_joined:
            await self.channel_layer.group_add(group, self.channel_name)
        for group in self.groups_joined - groups:
            await self.channel_layer.group_discard(group, self.channel_name)
        self.groups_joined = groups

    def _asked_for(self, task: Any) -> bool:
        chosen = all(
            getattr(task, field) in self.filters.get(name, {getattr(task, field)}) for name, field in FILTERS.items()
        )
        projects = self.filters.get("project")
        return chosen and (not projects or (task.project is not None and task.project.slug in projects))


def _groups(scopes: Scopes) -> frozenset[str]:
    if scopes.everything:
        return frozenset({EVERYTHING})
    return frozenset({user_group(scopes.user_id), *(project_group(pk) for pk in scopes.projects)})


def _off_loop(read: Any) -> Any:
    return database_sync_to_async(read, thread_sensitive=False)
