"""Posting batches as Vector's http sink does: one gzip JSON array, retried or dropped by the answer."""

from __future__ import annotations

import asyncio
import enum
import gzip
import logging
import random

import httpx
import orjson

from devkube.shipper.shaping import Obj

log = logging.getLogger("devkube.shipper")
NOT_RETRIED_5XX = 501
RETRIED_4XX = frozenset({408, 429})


class Outcome(enum.Enum):
    """What became of a batch."""

    STORED = "stored"
    DROPPED = "dropped"
    STOPPED = "stopped"


def retried(code: int) -> bool:
    """Whether Vector sends a batch again after this answer: 408, 429 and every 5xx but 501."""
    return code in RETRIED_4XX or (code >= 500 and code != NOT_RETRIED_5XX)


class Sink:
    """The receiver. The pause between tries doubles from `first_pause` to `longest_pause` seconds, with jitter."""

    def __init__(self, url: str, token: str, *, first_pause: float = 0.2, longest_pause: float = 10.0) -> None:
        """No request is made yet."""
        self._url = url
        self._pauses = first_pause, longest_pause
        self._client = httpx.AsyncClient(
            headers={
                "Content-Type": "application/json",
                "Content-Encoding": "gzip",
                "Accept-Encoding": "gzip, deflate",
                "Authorization": f"Bearer {token}",
                "User-Agent": "devkube-shipper (as Vector/0.58.0)",
            },
            timeout=httpx.Timeout(60.0, connect=5.0),
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def send(self, events: list[Obj], stop: asyncio.Event) -> Outcome:
        """Post until stored, refused for good, or told to stop."""
        body = await asyncio.to_thread(lambda: gzip.compress(orjson.dumps(events), compresslevel=4))
        pause, longest = self._pauses
        while True:
            outcome, why = await self._post(body, len(events))
            if outcome is not None:
                return outcome
            log.warning("%d lines are held back, next try in %.1f s: %s", len(events), pause, why)
            try:
                await asyncio.wait_for(stop.wait(), pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, no secret
            except TimeoutError:
                pause = min(pause * 2, longest)
            else:
                return Outcome.STOPPED

    async def _post(self, body: bytes, count: int) -> tuple[Outcome | None, str]:
        try:
            answer = await self._client.post(self._url, content=body)
        except httpx.HTTPError as error:
            return None, f"{type(error).__name__} {error}"
        if answer.is_success:
            return Outcome.STORED, ""
        why = f"{answer.status_code} {answer.text[:300]}"
        if retried(answer.status_code):
            return None, why
        log.error("%d LOG LINES ARE LOST: the receiver refused them for good: %s", count, why)
        return Outcome.DROPPED, why
