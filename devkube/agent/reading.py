"""Reading CRI log files back, as kubelet's containerLogs does: tail, since, timestamps, follow, limits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from devkube.agent.clock import parse_nano

FOLLOW_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What of a log is asked for; `since` in nanoseconds since the epoch; `stream` empty for both."""

    tail: int | None = None
    since: int | None = None
    timestamps: bool = False
    limit_bytes: int | None = None
    follow: bool = False
    stream: str = ""

    def shown(self, line: bytes) -> bytes:
        """A CRI line as the reader sees it; empty when it is not asked for or no CRI line."""
        stamp, _, rest = line.partition(b" ")
        stream, _, rest = rest.partition(b" ")
        mark, found, text = rest.partition(b" ")
        if not found or (self.stream and stream != self.stream.encode()):
            return b""
        if self.since is not None and parse_nano(stamp.decode()) < self.since:
            return b""
        text = text + b"\n" if mark.startswith(b"F") else text
        return stamp + b" " + text if self.timestamps else text


class LogFile:
    """A log and its rotated files; each `fresh` gives the whole lines that came since the last one."""

    def __init__(self, path: Path) -> None:
        """`path` is the file that is written to, `0.log` for instance."""
        self._path = path
        self._inode = self._place = 0

    def history(self) -> Iterator[bytes]:
        """Everything that is there, rotated files first."""
        for file in sorted(self._path.parent.glob(f"{self._path.name}.*")):
            yield from file.read_bytes().split(b"\n")[:-1]
        yield from self.fresh()

    def fresh(self) -> Iterator[bytes]:
        """Lines since the last call; what a rotation took away within one look is not seen again."""
        try:
            with self._path.open("rb") as file:
                inode = self._path.stat().st_ino
                if inode != self._inode:
                    self._inode, self._place = inode, 0
                file.seek(self._place)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self._place += len(line)
                    yield line[:-1]
        except FileNotFoundError:
            return


async def read(path: Path, query: LogQuery, running: Callable[[], bool]) -> AsyncIterator[bytes]:
    """The log of `path`; with `follow` until `running` is false and everything was read."""
    log, budget = LogFile(path), Budget(query.limit_bytes)
    past: Iterable[bytes] = (text for line in log.history() if (text := query.shown(line)))
    for text in deque(past, maxlen=query.tail):
        if piece := budget.take(text):
            yield piece
    while query.follow and not budget.spent:
        alive = running()
        for line in log.fresh():
            if piece := budget.take(query.shown(line)):
                yield piece
        if not alive:
            return
        await asyncio.sleep(FOLLOW_SECONDS)


class Budget:
    """How many bytes may still be shown; None for no end."""

    def __init__(self, limit: int | None) -> None:
        """`limit` in bytes."""
        self._left = limit

    @property
    def spent(self) -> bool:
        """True when nothing more may be shown."""
        return self._left is not None and self._left <= 0

    def take(self, text: bytes) -> bytes:
        """The part of `text` that may still be shown."""
        if self._left is None:
            return text
        text = text[: self._left]
        self._left -= len(text)
        return text
