"""CRI lines to messages, parts joined as Vector joins them (facts/external.md §2.2). Pure.

Vector keys its buckets by file alone, keeps the first part's time and stream, and leaves `_partial` on what it joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LONGEST_MERGED = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Message:
    """One log message; `end` is the file offset behind its last part; `joined` is Vector's `_partial` mark."""

    at: str
    stream: str
    text: bytes
    end: int
    joined: bool = False


@dataclass(slots=True)
class Merger:
    """The open bucket of one file. `start` is the offset of its first part, None while nothing is open."""

    start: int | None = None
    since: float = 0.0
    _at: str = ""
    _stream: str = ""
    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0
    _end: int = 0

    def feed(self, line: bytes, begin: int, end: int, now: float) -> Message | None:
        """Take one line (without its newline) that stands at these offsets; a message when one is complete.

        A line that is no CRI line is passed over, as by Vector.
        """
        fields = line.split(b" ", 3)
        if len(fields) != 4 or fields[1] not in (b"stdout", b"stderr") or fields[2][:1] not in (b"P", b"F"):
            return None
        at, stream, mark, text = fields
        last = mark[:1] == b"F"
        if self.start is None and last:
            return Message(at.decode(errors="replace"), stream.decode(), text, end)
        if self.start is None:
            self.start, self.since = begin, now
            self._at, self._stream = at.decode(errors="replace"), stream.decode()
        # The bound keeps one endless line from filling the memory; what is over it is cut off.
        room = LONGEST_MERGED - self._size
        self._parts.append(text[:room])
        self._size += min(len(text), room)
        self._end = end
        return self.close() if last else None

    def close(self) -> Message:
        """End the bucket: complete, or given up after its time."""
        message = Message(self._at, self._stream, b"".join(self._parts), self._end, joined=True)
        self.start, self._parts, self._size = None, [], 0
        return message
