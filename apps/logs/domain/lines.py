"""Log lines as values: their identity, their order, and what a reader may narrow them by.

A line's ``place`` is its time in nanoseconds followed by its arrival number, both with leading zeros: sorting places as
text sorts lines, also lines of the same nanosecond. Arrival numbers rise in the order in which lines become visible.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Literal, NamedTuple

LONGEST_LINE = 1024 * 1024
"""Bytes of UTF-8 kept of one line; the rest is cut with a visible mark (failures F21)."""
NANOSECONDS = 10**9
LATEST = 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(
    r"^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$", re.ASCII
)
_PLACE = re.compile(r"^(\d{19})(\d{13})$", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")

Stream = Literal["stdout", "stderr"]


class Place(NamedTuple):
    """Where a line stands among its Task's lines; compares in reading order."""

    at_ns: int
    arrival: int

    def __str__(self) -> str:
        return f"{self.at_ns:019d}{self.arrival:013d}"


START = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Source:
    """Which container of which pod wrote a line; ``task_id`` in canonical UUID text."""

    task_id: str
    attempt: int
    pod_uid: str
    instance: str
    container: str
    stream: Stream


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line not yet stored; ``text`` is storable, ``digest`` tells it from every other line of its time."""

    at_ns: int
    source: Source
    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line as the store gives it back."""

    place: Place
    attempt: int
    pod_uid: str
    instance: str
    container: str
    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class LineFilter:
    """What a reader narrows lines by; None or empty is everything. ``instance`` is a pod's name or uid."""

    attempt: int | None = None
    instance: str | None = None
    container: str | None = None
    stream: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    q: str = ""

    def matches(self, line: StoredLine) -> bool:
        """Whether the reader asked for this line; ``until_ns`` is exclusive, ``q`` is found whatever its case."""
        return (
            (self.attempt is None or line.attempt == self.attempt)
            and (not self.instance or self.instance in (line.instance, line.pod_uid))
            and (not self.container or line.container == self.container)
            and (not self.stream or line.stream == self.stream)
            and (self.since_ns is None or line.place.at_ns >= self.since_ns)
            and (self.until_ns is None or line.place.at_ns < self.until_ns)
            and (not self.q or self.q.lower() in line.text.lower())
        )


def parse_place(text: str) -> Place:
    """The place a client gives back; raises ValueError for anything that no answer of ours ever held."""
    matched = _PLACE.match(text) if len(text) == 32 else None
    if matched is None or int(matched[1]) > LATEST:
        raise ValueError("not a place of a log line")
    return Place(int(matched[1]), int(matched[2]))


def parse_time(text: str) -> int:
    """RFC 3339 text to nanoseconds since 1970, exactly; raises ValueError for other text and for years before 1970."""
    matched = _TIME.match(text) if len(text) <= 64 else None
    if matched is None:
        raise ValueError("not an RFC 3339 time")
    year, month, day, hour, minute, second = (int(part) for part in matched.groups()[:6])
    # A leap second has no place of its own in POSIX time; it shares the second after it.
    whole = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC) + timedelta(seconds=second // 60)
    if matched[8]:
        offset = timedelta(hours=int(matched[9]), minutes=int(matched[10]))
        whole = whole - offset if matched[8] == "+" else whole + offset
    at_ns = to_nanoseconds(whole) + int((matched[7] or "0").ljust(9, "0"))
    if not 0 <= at_ns <= LATEST:
        raise ValueError("not a time of a log line")
    return at_ns


def to_nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970 of an aware moment, without a detour over floats."""
    return (at - EPOCH) // timedelta(microseconds=1) * 1000


def format_time(at_ns: int) -> str:
    """RFC 3339 in UTC with nine decimals, which ``parse_time`` reads back to the same number."""
    seconds, nanoseconds = divmod(at_ns, NANOSECONDS)
    moment = EPOCH + timedelta(seconds=seconds)
    return f"{moment.replace(tzinfo=None).isoformat()}.{nanoseconds:09d}Z"


def storable(message: str) -> str:
    """The message as it is kept: NUL made visible, lone surrogates replaced, cut at ``LONGEST_LINE`` with a mark."""
    text = _SURROGATES.sub("\ufffd", message.replace("\x00", "␀"))
    if len(text) * 4 <= LONGEST_LINE:
        return text
    encoded = text.encode()
    if len(encoded) <= LONGEST_LINE:
        return text
    kept = encoded[:LONGEST_LINE].decode("utf-8", "ignore")
    return f"{kept}… [cut: {len(encoded) - LONGEST_LINE} more bytes]"


def new_line(at_ns: int, source: Source, message: str) -> NewLine:
    """A line ready for the store; two deliveries of one line have the same time and digest (failures F24)."""
    return NewLine(at_ns, source, storable(message), _digest(source, message))


def _digest(source: Source, message: str) -> bytes:
    hashed = blake2b(digest_size=16)
    for part in (source.pod_uid, source.container, source.stream, message):
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    return hashed.digest()
