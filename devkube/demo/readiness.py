"""How a program of the demo says that it is ready."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import httpx

Says: TypeAlias = Callable[[str], Callable[[], Awaitable[bool]]]


async def at_once() -> bool:
    """Ready as soon as it is started."""
    return True


def answers(url: str, token: str = "", *, trust: ssl.SSLContext | None = None) -> Callable[[], Awaitable[bool]]:
    """Ready when the URL answers 200."""

    async def ready() -> bool:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            async with httpx.AsyncClient(timeout=5.0, trust_env=False, verify=trust or True) as client:
                return (await client.get(url, headers=headers)).status_code == 200
        except httpx.HTTPError:
            return False

    return ready


def says(log: Path) -> Says:
    """Ready when a line that this start writes into the log holds the words."""
    before = log.stat().st_size if log.exists() else 0

    def holding(words: str) -> Callable[[], Awaitable[bool]]:
        def said() -> bool:
            return words.encode() in log.read_bytes()[before:]

        async def ready() -> bool:
            return said()

        return ready

    return holding
