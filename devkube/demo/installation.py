"""What one installation of the demo keeps in its folder: secrets, ports, the lock against a second start.

secrets.env    mode 0600: random once per installation        access.json  mode 0600: address, logins, tokens
ports.json     the ports of the last start                    running.json processes of the present start
logs/          one file per process, bounded                  postgres/ valkey/ clusters/   the data
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from devkube.children import alive, started_at
from devkube.demo.ports import Ports

LEFT_SECONDS = 20.0


class AlreadyRunningError(RuntimeError):
    """Another supervisor holds this folder; the message names its process."""


class Installation:
    """One folder, `.demo` by default."""

    def __init__(self, home: Path) -> None:
        """Makes the folder, closed to others but passable (PostgreSQL and containers run as other users)."""
        self.home = home.resolve()
        self.home.mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o711)
        self.logs = self.home / "logs"
        self.access = self.home / "access.json"
        self._reserved = Ports()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder; raises AlreadyRunningError."""
        lock = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = os.pread(lock, 20, 0).decode() or "?"
            os.close(lock)
            raise AlreadyRunningError(f"the demo is already running (process {pid})") from error
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
            yield
        finally:
            self._reserved.release()
            os.close(lock)

    def secrets(self, names: Mapping[str, Callable[[], str]]) -> dict[str, str]:
        """The installation's secrets by name, made on the first call."""
        path = self.home / "secrets.env"
        known: dict[str, str] = {}
        if path.exists():
            known = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
        fresh = {name: make() for name, make in names.items() if name not in known}
        if fresh:
            known |= fresh
            write_private(path, "".join(f"{name}={value}\n" for name, value in sorted(known.items())))
        return known

    def ports(self, wanted: Mapping[str, int | None]) -> dict[str, int]:
        """A free port for each name, kept from other starts until `release_ports`.

        The one of the last start, else the wanted one or the next above it, else any.
        """
        path = self.home / "ports.json"
        last: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        self._reserved.release()
        chosen = {name: self._reserved.take(last.get(name), first) for name, first in wanted.items()}
        write_private(path, json.dumps(chosen))
        return chosen

    def release_ports(self) -> None:
        """Let other starts choose them; the end of `held` and of the process do so too."""
        self._reserved.release()

    def note_running(self, pids: Mapping[str, int]) -> None:
        """Write down the processes of this start, so that the next one finds what a kill -9 may leave."""
        noted = {name: [pid, started_at(pid)] for name, pid in pids.items()}
        write_private(self.home / "running.json", json.dumps(noted))

    def set_up_with(self) -> str:
        """The fingerprint of what the database was set up with; empty before the first time."""
        path = self.home / "set-up"
        return path.read_text() if path.exists() and self.access.exists() else ""

    def note_set_up(self, fingerprint: str) -> None:
        """Remember the fingerprint of a finished set-up."""
        write_private(self.home / "set-up", fingerprint)

    def end_left_behind(self) -> None:
        """Wait for processes of a killed start that are still ending; insist after 20 seconds."""
        path = self.home / "running.json"
        if not path.exists():
            return
        noted: dict[str, list[Any]] = json.loads(path.read_text())
        left = [int(pid) for pid, start in noted.values() if start and started_at(int(pid)) == start]
        for pid in left:
            _send(pid, signal.SIGTERM)
        give_up = time.monotonic() + LEFT_SECONDS
        while any(alive(pid) for pid in left) and time.monotonic() < give_up:
            time.sleep(0.1)
        for pid in left:
            _send(pid, signal.SIGKILL)
        path.unlink()


def _send(pid: int, number: signal.Signals) -> None:
    if alive(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def write_private(path: Path, text: str) -> None:
    """Write a file whole, mode 0600."""
    fresh = path.with_name(path.name + ".new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    fresh.replace(path)


def random_token() -> str:
    """A secret of 32 random bytes, in letters that need no quoting."""
    return secrets.token_urlsafe(32)


def random_sealing_key() -> str:
    """A Fernet key."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
