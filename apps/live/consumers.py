"""What every live socket shares: greeting, nudges that only wake it, one reader of the database, pings, a way out.

Messages of the channel layer carry nothing that a browser sees. They wake ``_pump``, which reads what is true now
and sends it; so a nudge lost or doubled costs nothing, a tick finds what no nudge told, and a slow reader's backlog
waits in the database instead of in memory (failures F24).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import orjson
import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError, InterfaceError

from apps.live.payloads import Message

INTERNAL_FAULT = 1011
SIGNED_OUT = 4401
NOT_FOUND = 4404
GREETING_SECONDS = 1.5
GATHER_SECONDS = 0.08
TICK_SECONDS = 5.0
PING_SECONDS = 20.0
RETRY_SECONDS = 1.0
LARGEST_HELLO = 16 * 1024
logger = structlog.get_logger(__name__)


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc] # channels carries no types
    """Subclasses say how to ``enter``, what a ``greeting`` means, and ``deliver`` what is new."""

    async def enter(self) -> bool:
        """Subscribe first, then look; False when there is nothing here for this person."""
        raise NotImplementedError

    async def greeting(self, hello: dict[str, Any]) -> None:
        """The client's word on what it has heard already."""
        raise NotImplementedError

    async def deliver(self, *, tick: bool) -> bool:
        """Send what is new; True when more is waiting. Called by one coroutine only."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Give back what ``enter`` took."""

    # -- channels' own names ------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        self._woken, self._greeted = asyncio.Event(), asyncio.Event()
        self._pumping: asyncio.Task[None] | None = None
        self._inside = False
        self.user_id = getattr(self.scope.get("user"), "pk", None)
        self._inside = self.user_id is not None
        # Listening begins before the socket is open, so what the client reads once it is open joins up with it.
        allowed = self._inside and await self.enter()
        # A browser is told the code of a close only on an open socket, so strangers are let in and turned away.
        await self.accept()
        if allowed:
            self._pumping = asyncio.create_task(self._pump())
        else:
            await self.close(NOT_FOUND if self._inside else SIGNED_OUT)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        hello = _parsed(text_data)
        if hello is not None and hello.get("type") == "hello" and self._pumping is not None:
            await self.greeting(hello)
            self._greeted.set()
            self.wake()

    async def disconnect(self, code: int) -> None:
        if self._pumping is not None:
            self._pumping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pumping
        if self._inside:
            await self.leave()

    # -----------------------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        self._woken.set()

    async def say(self, message: Message) -> None:
        """Send one message; waits while the client reads too slowly."""
        self._spoken_at = asyncio.get_running_loop().time()
        await self.send(text_data=orjson.dumps(message, default=str).decode())

    async def turn_away(self, code: int = NOT_FOUND) -> None:
        """Close for somebody whose right to listen has ended; nothing more is said."""
        self._over = True
        await self.close(code)

    async def signed_in(self) -> bool:
        """Whether the session that opened this socket still exists; closes the socket when it does not."""
        session = self.scope.get("session")
        if session is None or session.session_key is None:
            return True
        if await database_sync_to_async(session.exists, thread_sensitive=False)(session.session_key):
            return True
        await self.turn_away(SIGNED_OUT)
        return False

    async def _pump(self) -> None:
        """Wait for the greeting a moment, then deliver for as long as the socket lives."""
        self._over, tick = False, False
        self._spoken_at = asyncio.get_running_loop().time()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GREETING_SECONDS):
                await self._greeted.wait()
        try:
            while not self._over:
                more = await self._deliver_safely(tick=tick)
                tick = False if more or self._over else not await self._wait()
        except Exception:
            # The client reconnects and says what it has; half a socket that says nothing would be worse.
            logger.exception("live socket ends on a fault")
            await self.close(INTERNAL_FAULT)

    async def _deliver_safely(self, *, tick: bool) -> bool:
        try:
            return await self.deliver(tick=tick)
        except (DatabaseError, InterfaceError) as fault:
            logger.warning("live socket waits for the database", fault=str(fault))
            await asyncio.sleep(RETRY_SECONDS)
            return True

    async def _wait(self) -> bool:
        """Until woken (True) or the next tick (False); a nudge's companions are gathered for a moment."""
        try:
            async with asyncio.timeout(TICK_SECONDS):
                await self._woken.wait()
        except TimeoutError:
            if asyncio.get_running_loop().time() - self._spoken_at >= PING_SECONDS - TICK_SECONDS:
                await self.say({"type": "ping"})
            return False
        await asyncio.sleep(GATHER_SECONDS)
        self._woken.clear()
        return True


def _parsed(text: str | None) -> dict[str, Any] | None:
    if text is None or len(text) > LARGEST_HELLO:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
