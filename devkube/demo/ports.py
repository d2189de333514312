"""Ports that one start of the demo has for itself, and the proof that a program listens on its own.

Looking for a free port and binding it are two moments: two starts in the same second would both see 8000 free. So a
start also reserves what it chose, by an abstract Unix socket: all users of the machine see it, and the kernel takes it
back with the process, however that ends. A stranger who reserves nothing is caught by `listens`.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from devkube.children import free_port

NEXT = 20
_LISTEN = "0A"


class Ports:
    """The ports of one start, reserved until `release` or the end of the process."""

    def __init__(self) -> None:
        """Nothing is reserved yet."""
        self._held: dict[int, socket.socket] = {}

    def take(self, last: int | None, wanted: int | None) -> int:
        """A free port that no other start has: `last`, else `wanted` or one of the next above it, else any."""
        for candidate in _candidates(last, wanted):
            port = free_port(candidate)
            if (candidate in (None, port)) and self._reserve(port):
                return port
        raise OSError("no free loopback port")

    def release(self) -> None:
        """Give all of them back."""
        while self._held:
            self._held.popitem()[1].close()

    def _reserve(self, port: int) -> bool:
        if port in self._held:
            return False
        mark = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            mark.bind(f"\0devkube-port-{port}")
        except OSError:
            mark.close()
            return False
        self._held[port] = mark
        return True


def _candidates(last: int | None, wanted: int | None) -> Iterator[int | None]:
    if last is not None:
        yield last
    if wanted is not None:
        yield from range(wanted, wanted + NEXT)
    yield from [None] * NEXT


def listens(pid: int, port: int) -> bool:
    """Whether this very process has a listening TCP socket on the port; true where nobody tells us.

    Nobody does but on Linux, nor of another user's process in a container whose root may not trace.
    """
    told = [table for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if table.exists()]
    sockets = {f"socket:[{inode}]" for table in told for inode in _listening(table, port)}
    try:
        return not told or any(str(target) in sockets for target in _open_files(pid))
    except PermissionError:
        return True


def _listening(table: Path, port: int) -> Iterator[str]:
    for line in table.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
            yield fields[9]


def _open_files(pid: int) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                yield entry.readlink()
