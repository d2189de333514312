"""One program of a cluster as a child process: started, waited for by its own health address, stopped for sure."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devkube.children import start

LOOK_SECONDS = 0.02
TAIL_BYTES = 3000
# Below the range from which the kernel takes the ports of outgoing connections: a part that is restarted finds its own
# port free again.
PORTS = range(15000, 30000)


class StartError(RuntimeError):
    """A part did not come up; the message names its log file and has its end."""


def free_ports(count: int) -> list[int]:
    """Loopback ports that nobody listens on, each another; raises OSError when there are none."""
    found: list[int] = []
    for port in random.sample(PORTS, k=len(PORTS) // 10):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise OSError("no free loopback ports")


def tail(path: Path) -> str:
    """The end of a log, empty when there is none."""
    return path.read_bytes()[-TAIL_BYTES:].decode(errors="replace") if path.exists() else ""


@dataclass
class Daemon:
    """A program with its command line, its log and a question that is true once it serves; `start` may be repeated."""

    name: str
    argv: Sequence[str]
    log: Path
    ready: Callable[[], bool]
    env: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    died: str = ""

    def start(self) -> None:
        """Start it; returns before it serves. Main thread only: the kernel ends it with the thread that started it."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(f"{self.name} is to be started in the main thread")
        environment = os.environ | dict(self.env)
        # Nobody waits for the farewell of a program whose owner was killed; etcd bears that as it bears a power cut.
        self.process = start(self.argv, log=self.log, cwd=self.log.parent, env=environment, stop=signal.SIGKILL)

    def wait_ready(self, deadline: float) -> None:
        """Wait until it serves, at most until `deadline` (monotonic seconds); raises StartError."""
        while not self.ready():
            if self.process is None or self.process.poll() is not None:
                code = self.process.returncode if self.process else "?"
                raise StartError(f"{self.name} ended with code {code}; its log is {self.log}:\n{tail(self.log)}")
            if time.monotonic() > deadline:
                raise StartError(f"{self.name} is not ready in time; its log is {self.log}:\n{tail(self.log)}")
            time.sleep(LOOK_SECONDS)

    @property
    def alive(self) -> bool:
        """True while its process runs."""
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its group, if it runs: a program entered by nsenter is a child of that."""
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def ask_to_stop(self) -> None:
        """SIGTERM, and remember it when the program had died before anybody asked."""
        if self.process is not None and self.process.poll() is not None:
            self.died = f"{self.name} had died with code {self.process.returncode}; its log is {self.log}"
        self.signal(signal.SIGTERM)

    def end(self, grace: float) -> None:
        """Wait at most `grace` seconds for the end, then SIGKILL the process and what it left in its group."""
        process = self.process
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.process = None

    def kill(self) -> None:
        """SIGKILL without warning, as a machine that loses its power."""
        self.end(0)


def stop_all(daemons: Sequence[Daemon], grace: float) -> list[str]:
    """Stop them together, the last started first; what had died by itself, in words."""
    for daemon in reversed(daemons):
        daemon.ask_to_stop()
    deadline = time.monotonic() + grace
    for daemon in reversed(daemons):
        daemon.end(max(0.0, deadline - time.monotonic()))
    return [daemon.died for daemon in daemons if daemon.died]


class Folder:
    """A part's own folder: given, and then kept, or a temporary one that goes unless its logs are wanted."""

    def __init__(self, given: Path | None, prefix: str) -> None:
        """Makes the folder with `logs` in it."""
        self.temporary = given is None
        self.path = Path(tempfile.mkdtemp(prefix=f"{prefix}-")) if given is None else given.resolve()
        self.logs.mkdir(parents=True, exist_ok=True)

    @property
    def logs(self) -> Path:
        """Where the programs' logs are."""
        return self.path / "logs"

    def leave(self, *, keep_logs: bool) -> None:
        """Remove a temporary folder, all of it but the logs when something went wrong."""
        if not self.temporary:
            return
        if not keep_logs:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for entry in self.path.iterdir():
            if entry != self.logs:
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink()
