"""The CRI log file: how a runtime writes a container's output, byte for byte.

`<RFC3339Nano> <stdout|stderr> <P|F> <text>\n`; a line longer than 16 KiB comes in parts marked P, the last one F
(facts/external.md §2.2). Imports little: every container's shim loads it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from devkube.agent.clock import nano_stamp, nanoseconds

LONGEST = 16 * 1024
ROTATE_BYTES = 10 * 1024 * 1024
ROTATE_FILES = 5


class CriLog:
    """One open log file; strictly increasing timestamps; rotated to `<file>.<time>` as kubelet does (bytes, files)."""

    def __init__(self, path: Path, *, rotate_bytes: int = ROTATE_BYTES, rotate_files: int = ROTATE_FILES) -> None:
        self.path = path
        self.rotate_bytes = rotate_bytes
        self.rotate_files = rotate_files
        self._last = 0
        self._rests = {"stdout": b"", "stderr": b""}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._open()

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)

    def feed(self, stream: str, data: bytes) -> None:
        """Add what the process wrote; text without its newline waits until 16 KiB are full."""
        *lines, rest = (self._rests[stream] + data).split(b"\n")
        out: list[bytes] = []
        for line in lines:
            self._add(out, stream, line, b"F")
        while len(rest) > LONGEST:
            out.append(self._line(stream, b"P", rest[:LONGEST]))
            rest = rest[LONGEST:]
        self._rests[stream] = rest
        self._write(out, whole=not any(self._rests.values()))

    def close(self) -> None:
        """Write what never got its newline, marked P as containerd does, and close the file."""
        out: list[bytes] = []
        for stream, rest in self._rests.items():
            if rest:
                self._add(out, stream, rest, b"P")
        self._write(out, whole=False)
        os.close(self._file)

    def _add(self, out: list[bytes], stream: str, line: bytes, last: bytes) -> None:
        while len(line) > LONGEST:
            out.append(self._line(stream, b"P", line[:LONGEST]))
            line = line[LONGEST:]
        out.append(self._line(stream, last, line))

    def _line(self, stream: str, mark: bytes, text: bytes) -> bytes:
        self._last = max(nanoseconds(), self._last + 1)
        return b"%s %s %s %s\n" % (nano_stamp(self._last).encode(), stream.encode(), mark, text)

    def _write(self, lines: list[bytes], *, whole: bool) -> None:
        if not lines:
            return
        data = memoryview(b"".join(lines))
        try:
            while data:
                data = data[os.write(self._file, data) :]
            # Only between whole lines, so that the parts of one line stay in one file.
            if whole and os.fstat(self._file).st_size > self.rotate_bytes:
                self._rotate()
        except OSError:
            return  # a full disk must not stop the container

    def _rotate(self) -> None:
        os.close(self._file)
        suffix = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{self._last % 1_000_000_000:09d}"
        self.path.rename(f"{self.path}.{suffix}")
        self._file = self._open()
        for old in sorted(self.path.parent.glob(f"{self.path.name}.*"))[: -(self.rotate_files - 1)]:
            old.unlink(missing_ok=True)
