"""Child processes that do not outlive their parent, and ports that nobody holds."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Account:
    """The system user that a process changes to; only root can."""

    uid: int
    gid: int


def dies_with_parent(stop: signal.Signals) -> Callable[[], None]:
    """What a child runs between fork and exec so that the kernel sends it `stop` when the starting thread ends.

    Linux only (elsewhere it does nothing). Start children from the main thread: the kernel watches the thread.
    """
    parent = os.getpid()

    def ask_the_kernel() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, int(stop))
            if os.getppid() != parent:  # the parent died between fork and prctl
                os._exit(1)

    return ask_the_kernel


def start(
    argv: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    account: Account | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own, its output appended to `log`; raises OSError when it cannot start."""
    with log.open("ab") as output:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=dict(os.environ if env is None else env),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            start_new_session=True,
            preexec_fn=dies_with_parent(stop),  # noqa: PLW1509 - only prctl and getppid run there, safe beside threads
        )


def free_port(wanted: int | None = None) -> int:
    """A loopback TCP port that nothing listens on: `wanted` when it is free, else any."""
    for candidate in (wanted, 0):
        if candidate is None:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free loopback port")


def make_passable(folder: Path) -> None:
    """Let other users pass (not list) every folder above; a clone below /root is closed to them otherwise."""
    for above in [folder, *folder.parents]:
        mode = above.stat().st_mode
        if not mode & 0o001:
            above.chmod(mode | 0o001)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def alive(pid: int) -> bool:
    """True for a process that runs and is no zombie (Linux)."""
    fields = _stat(pid)
    return bool(fields) and fields[0] not in ("Z", "X")


def started_at(pid: int) -> int | None:
    """When a process started, in clock ticks since boot, which tells it from a later one with its pid (Linux)."""
    fields = _stat(pid)
    return int(fields[19]) if len(fields) > 19 else None
