"""Reading log files on from where their lines were last acknowledged.

A file is known by its pod, container, number and first timestamp, which a rotation does not change and which no later
file on the same inode repeats.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from devkube.shipper.merging import Merger, Message
from devkube.shipper.shaping import Source

log = logging.getLogger("devkube.shipper")
CHUNK = 128 * 1024


class Checkpoints:
    """How far each file is acknowledged, on disk."""

    def __init__(self, path: Path) -> None:
        """An unreadable file counts as empty: lines are sent again rather than lost."""
        self._path = path
        self._offsets: dict[str, int] = {}
        try:
            self._offsets = {str(key): int(value) for key, value in json.loads(path.read_text()).items()}
        except FileNotFoundError:
            pass
        except (ValueError, AttributeError):
            log.warning("%s cannot be read: every log file is sent again", path)

    def offset(self, identity: str) -> int:
        """Where to read on."""
        return self._offsets.get(identity, 0)

    def move(self, offsets: dict[str, int], *, known: set[str]) -> None:
        """Take over what was acknowledged, forget files that are gone, write to disk."""
        self._offsets = {key: value for key, value in (self._offsets | offsets).items() if key in known}
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._offsets))
        fresh.rename(self._path)


@dataclass(slots=True)
class Tail:
    """One file that is read; `place` is where reading goes on, `safe` what may be acknowledged so far."""

    path: Path
    source: Source
    identity: str
    place: int
    first: str = ""
    merger: Merger = field(default_factory=Merger)

    @property
    def safe(self) -> int:
        """The offset behind which nothing is still being joined."""
        return self.place if self.merger.start is None else self.merger.start

    def messages(self, now: float, patience: float) -> Iterator[Message]:
        """The complete messages of one chunk; a bucket older than `patience` seconds is given up and told."""
        try:
            with self.path.open("rb") as file:
                # Between listing and opening a rotation may have put the next file under this name.
                same = self.first in ("", _stamp(file.read(64)))
                file.seek(self.place)
                data = file.read(CHUNK) if same else b""
        except FileNotFoundError:
            data = b""  # rotated or removed between listing and reading
        for line in data.split(b"\n")[:-1]:
            begin, self.place = self.place, self.place + len(line) + 1
            if message := self.merger.feed(line, begin, self.place, now):
                yield message
        if self.merger.start is not None and now - self.merger.since >= patience:
            yield self.merger.close()


class Tails:
    """All log files below a folder of pods, the older files of a container first."""

    def __init__(self, folder: Path, checkpoints: Checkpoints) -> None:
        """`folder` may not exist yet."""
        self._folder, self._checkpoints = folder, checkpoints
        self._tails: dict[str, Tail] = {}

    def look(self) -> list[Tail]:
        """The files that are there now, in the order in which they are to be read."""
        found: dict[str, Tail] = {}
        for path in sorted(self._folder.glob("*/*/*.log*"), key=_age):
            source, first = Source.of(path), _first_timestamp(path)
            if source is None or not first:
                continue
            identity = f"{source.uid}/{source.container}/{source.number}#{first}"
            tail = self._tails.get(identity)
            if tail is None:
                tail = Tail(path, source, identity, self._checkpoints.offset(identity), first)
            tail.path = path
            found[identity] = tail
        self._tails = found
        return list(found.values())


def _age(path: Path) -> tuple[str, int, int, str]:
    number, _, rotated = path.name.partition(".log")
    return str(path.parent), int(number) if number.isdecimal() else 0, 0 if rotated else 1, rotated


def _first_timestamp(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return _stamp(file.read(64))
    except FileNotFoundError:
        return ""


def _stamp(head: bytes) -> str:
    stamp, found, _ = head.partition(b" ")
    return stamp.decode(errors="replace") if found else ""
