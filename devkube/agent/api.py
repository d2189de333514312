"""The calls that a node makes to the Kubernetes API: list and watch, patch, lease, event, delete."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx

log = logging.getLogger("devkube.agent")

Obj: TypeAlias = dict[str, Any]
WATCH_SECONDS = 240
CALL_SECONDS = 15.0
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
GONE = 410


class ApiError(Exception):
    """The server answered with an error; `code` is its HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


# What a call can fail with that a later call may not.
AWAY = (httpx.HTTPError, ApiError, OSError)


@dataclass(slots=True)
class Api:
    """One API server; `ca` is a file to trust for https. Close it with `aclose`."""

    server: str
    token: str
    ca: Path | None = None
    client: httpx.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        """Open the connection pool; no call is made yet."""
        trust: ssl.SSLContext | bool = ssl.create_default_context(cafile=str(self.ca)) if self.ca else True
        self.client = httpx.AsyncClient(
            base_url=self.server.rstrip("/"),
            headers={"Authorization": f"Bearer {self.token}", "User-Agent": "devkube-agent"},
            verify=trust,
            timeout=CALL_SECONDS,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20),
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def call(
        self, method: str, path: str, *, body: Obj | None = None, kind: str = "application/json", **query: Any
    ) -> Obj:
        """One request, its answer as JSON; raises ApiError and httpx.HTTPError."""
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": kind}
        answer = await self.client.request(method, path, content=content, headers=headers, params=query or None)
        if answer.is_error:
            raise ApiError(answer.status_code, _message(answer.content))
        return answer.json()  # type: ignore[no-any-return] # JSON carries no types

    async def follow(self, path: str, selector: str, on_list: Listed, on_event: Happened) -> None:
        """List, then watch for ever: relists on 410, reconnects with a growing pause; ends only when cancelled."""
        version, pause = "", 0.2
        while True:
            try:
                if not version:
                    version = await self._relist(path, selector, on_list)
                    pause = 0.2
                async for event in self._watch(path, selector, version):
                    seen = event["object"]
                    if event["type"] == "ERROR":
                        raise ApiError(int(seen.get("code", 500)), str(seen.get("message", "")))
                    version, pause = seen["metadata"]["resourceVersion"], 0.2
                    if event["type"] != "BOOKMARK":
                        await on_event(event["type"], seen)
            except ApiError as error:
                version = "" if error.code == GONE or not version else version
                log.info("watch of %s: %s", path, error)
            except (httpx.HTTPError, OSError, ValueError) as error:
                log.info("watch of %s: %s: %s", path, type(error).__name__, error)
            else:
                continue  # the server ended the watch in time, as asked
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)

    async def _relist(self, path: str, selector: str, on_list: Listed) -> str:
        query: dict[str, Any] = {"limit": 500} | ({"fieldSelector": selector} if selector else {})
        items: list[Obj] = []
        while True:
            page = await self.call("GET", path, **query)
            items += page.get("items") or []
            more = page["metadata"].get("continue", "")
            if not more:
                await on_list(items)
                return str(page["metadata"]["resourceVersion"])
            query["continue"] = more

    async def _watch(self, path: str, selector: str, version: str) -> AsyncIterator[Obj]:
        query: dict[str, str | int] = {"watch": 1, "resourceVersion": version, "allowWatchBookmarks": "true"}
        query |= {"timeoutSeconds": WATCH_SECONDS} | ({"fieldSelector": selector} if selector else {})
        timeout = httpx.Timeout(CALL_SECONDS, read=WATCH_SECONDS + 15)
        async with self.client.stream("GET", path, params=query, timeout=timeout) as answer:
            if answer.is_error:
                raise ApiError(answer.status_code, _message(await answer.aread()))
            async for line in answer.aiter_lines():
                if line:
                    yield json.loads(line)


Listed: TypeAlias = Callable[[list[Obj]], Awaitable[None]]
Happened: TypeAlias = Callable[[str, Obj], Awaitable[None]]


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content).get("message", ""))[:500]
    except (ValueError, AttributeError):
        return content[:200].decode(errors="replace")
