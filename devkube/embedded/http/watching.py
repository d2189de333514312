"""Watches: the changes of a resource as a stream of JSON lines."""

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator

import orjson
from starlette.responses import StreamingResponse

from devkube.embedded import clock, errors
from devkube.embedded.http.call import META, Call
from devkube.embedded.http.codec import JSON
from devkube.embedded.http.reading import find
from devkube.embedded.objects import Obj, namespace_of
from devkube.embedded.resources import Resource
from devkube.embedded.selectors import Match, matcher
from devkube.embedded.store import Change, Entry

BACKLOG = 20_000
CHUNK = 256 * 1024


def watch(call: Call) -> StreamingResponse:
    """Open a watch; raises ApiError 400, 422 before the stream begins."""
    initial = call.request.query_params.get("sendInitialEvents")
    if initial is not None and call.text("resourceVersionMatch") != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise errors.invalid(META, "", [errors.refused("resourceVersionMatch", why)])
    if initial is None and call.text("resourceVersionMatch"):
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise errors.invalid(META, "", [errors.refused("resourceVersionMatch", why)])
    version = call.text("resourceVersion")
    if version and (not version.isascii() or not version.isdigit()):
        raise errors.bad_request(f'Invalid value: "{version[:50]}": strconv.ParseUint: invalid syntax')
    resource = call.target.resource
    match = matcher(call.text("labelSelector"), call.text("fieldSelector"), resource)
    stream = _Stream(resource, call.target.namespace, match)
    timeout = call.whole("timeoutSeconds") or random.randint(1800, 3600)  # noqa: S311 # only spreads reconnects
    return StreamingResponse(_lines(call, stream, float(timeout)), media_type=JSON)


def _line(kind: str, raw: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","object":' + raw + b"}\n"


def _bookmark(resource: Resource, rv: int, *, initial_end: bool = False) -> bytes:
    about: Obj = {"resourceVersion": str(rv), "creationTimestamp": None}
    if initial_end:
        about["annotations"] = {"k8s.io/initial-events-end": "true"}
    return _line(
        "BOOKMARK", orjson.dumps({"kind": resource.kind, "apiVersion": resource.api_version, "metadata": about})
    )


class _Stream:
    """Collects what one watcher has not been sent yet."""

    def __init__(self, resource: Resource, namespace: str, match: Match | None) -> None:
        self.resource, self.namespace, self.match = resource, namespace, match
        self.waiting: deque[bytes] = deque()
        self.awake = asyncio.Event()
        self.overrun = False
        self.began = self.latest = 0

    def begin_at(self, rv: int) -> None:
        """Tell nothing up to this version."""
        self.began = self.latest = rv

    def take(self, change: Change) -> None:
        """Keep a change that this watcher is to see."""
        self.latest = max(self.latest, change.rv)
        if self.namespace and namespace_of(change.entry.obj) != self.namespace:
            return
        line = self._seen(change)
        if line is None:
            return
        if len(self.waiting) >= BACKLOG:
            self.overrun = True
        else:
            self.waiting.append(line)
        self.awake.set()

    def _seen(self, change: Change) -> bytes | None:
        if self.match is None:
            return _line(change.kind, change.entry.raw)
        was = change.before is not None and self.match(change.before.obj)
        now = change.kind != "DELETED" and self.match(change.entry.obj)
        if was and not now:
            return _line("DELETED", _with_version(change.before, change.rv))
        if now:
            return _line("MODIFIED" if was else "ADDED", change.entry.raw)
        return None


def _with_version(entry: Entry | None, rv: int) -> bytes:
    obj = entry.obj if entry else {"metadata": {}}
    return orjson.dumps({**obj, "metadata": {**obj["metadata"], "resourceVersion": str(rv)}})


def _begin(call: Call, stream: _Stream) -> list[bytes]:
    """Return the first lines: the present objects, or what changed since the given version."""
    store, version = call.api.registry.store, call.text("resourceVersion")
    if stream.resource.virtual:
        return []
    initial = call.flag("sendInitialEvents")
    if initial or version in ("", "0"):
        entries, rv = find(call) if initial or "sendInitialEvents" not in call.request.query_params else ([], store.rv)
        stream.begin_at(rv)
        lines = [_line("ADDED", entry.raw) for entry in entries]
        if initial and call.flag("allowWatchBookmarks"):
            lines.append(_bookmark(stream.resource, rv, initial_end=True))
        return lines
    changes = store.changes_since(stream.resource, int(version))
    if changes is None:
        gone = errors.expired(f"too old resource version: {version} ({store.rv})")
        return [_line("ERROR", orjson.dumps(gone.status()))]
    stream.begin_at(int(version))
    for change in changes:
        stream.take(change)
    return []


async def _lines(call: Call, stream: _Stream, seconds: float) -> AsyncIterator[bytes]:
    store = call.api.registry.store
    first = _begin(call, stream)
    stop = None if stream.resource.virtual else store.listen(stream.resource, stream.take)
    try:
        if first:
            yield b"".join(first)
            if first[-1].startswith(b'{"type":"ERROR"'):
                return
        async for chunk in _follow(call, stream, clock.monotonic() + seconds):
            yield chunk
    finally:
        if stop is not None:
            stop()


async def _follow(call: Call, stream: _Stream, end: float) -> AsyncIterator[bytes]:
    marks = call.flag("allowWatchBookmarks")
    every = call.api.bookmark_seconds
    next_mark = clock.monotonic() + every
    while not stream.overrun:
        while stream.waiting:
            yield _chunk(stream)
        now = clock.monotonic()
        if marks and (now >= next_mark or now >= end):
            # Like the API server's: none of the version that the watch began with, so none while nothing happens.
            if stream.latest > stream.began:
                yield _bookmark(stream.resource, stream.latest)
            next_mark = now + every
        if now >= end:
            return
        stream.awake.clear()
        until = min(end, next_mark) if marks else end
        try:
            async with asyncio.timeout(max(until - now, 0.001)):
                await stream.awake.wait()
        except TimeoutError:
            continue


def _chunk(stream: _Stream) -> bytes:
    parts, size = [], 0
    while stream.waiting and size < CHUNK:
        parts.append(stream.waiting.popleft())
        size += len(parts[-1])
    return b"".join(parts)
