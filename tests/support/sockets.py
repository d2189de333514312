"""A browser's side of a live socket, and people's sessions behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from platform_site.sockets import websocket_urlpatterns


class Browser:
    """One socket of one person; ``listen`` gives the messages in order, pings left out."""

    def __init__(self, path: str, user: User | None, **scope: Any) -> None:
        # Not channels' own communicator: its package imports a server that the platform does not use.
        plain, _, query = path.partition("?")
        place = {"type": "websocket", "path": plain, "query_string": query.encode(), "headers": [], "subprotocols": []}
        who = {"user": user or AnonymousUser(), **scope}
        communicator: Any = ApplicationCommunicator  # asgiref's test tools carry no types
        self._socket = communicator(URLRouter(websocket_urlpatterns), place | who)

    async def __aenter__(self) -> Browser:
        await self._socket.send_input({"type": "websocket.connect"})
        assert (await self._socket.receive_output(timeout=5))["type"] == "websocket.accept"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._socket.wait(timeout=5)

    async def hello(self, **words: Any) -> None:
        await self.say(json.dumps({"type": "hello", **words}))

    async def say(self, text: str) -> None:
        await self._socket.send_input({"type": "websocket.receive", "text": text})

    async def hear(self, *, within: float = 5.0) -> dict[str, Any]:
        """The next message; raises TimeoutError when there is none, and tells a close as ``{"closed": code}``."""
        while True:
            output = await self._socket.receive_output(timeout=within)
            if output["type"] == "websocket.close":
                return {"closed": output["code"]}
            message: dict[str, Any] = json.loads(output["text"])
            if message["type"] != "ping":
                return message

    async def hear_until(
        self, enough: Callable[[list[dict[str, Any]]], bool], *, within: float = 15.0
    ) -> list[dict[str, Any]]:
        """Messages until there are enough of them."""
        heard: list[dict[str, Any]] = []
        async with asyncio.timeout(within):
            while not enough(heard):
                heard.append(await self.hear(within=within))
        return heard

    async def silent(self, *, within: float = 0.6) -> bool:
        return bool(await self._socket.receive_nothing(timeout=within))


def task_socket(task_id: UUID, user: User | None, **scope: Any) -> Browser:
    return Browser(f"/ws/tasks/{task_id}", user, **scope)


def list_socket(user: User | None, query: str = "", **scope: Any) -> Browser:
    return Browser(f"/ws/tasks{query}", user, **scope)


async def in_thread(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run what a worker or a request would do, in a thread with a database connection of its own."""
    return await database_sync_to_async(act, thread_sensitive=False)(*args, **kwargs)
