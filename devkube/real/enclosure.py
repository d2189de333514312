"""A place for a container node: namespaces of its own for mounts and processes, entered by its programs.

All that a kubelet and a container runtime leave behind (shims, containers, mounts, network namespaces) lives in there
and ends with its first process, whatever happened. The network is the machine's own, so loopback ports work.
Linux as root only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from devkube.real.daemon import Daemon

READY_SECONDS, GONE_SECONDS = 20.0, 10.0
# Places that the programs have built in: private to each node, so that several stand side by side.
PRIVATE = ("/run", "/var/lib/kubelet", "/var/log/containers")
# dash and busybox wait for any child, so the shell is an init that leaves no zombies.
_INIT = """
set -eu
for place in {places}; do mkdir -p "$place"; mount -t tmpfs -o mode=755 tmpfs "$place"; done
touch {ready}
while :; do sleep 3600 & wait $! || :; done
"""


def obstacle() -> str:
    """Why no enclosure can be made here; empty when it can."""
    if sys.platform != "linux":
        return "container nodes need Linux"
    if os.geteuid() != 0:
        return "container nodes need root"
    if not (shutil.which("unshare") and shutil.which("nsenter")):
        return "container nodes need unshare and nsenter (Debian: util-linux)"
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, text=True, check=False
    )
    return f"this system allows no namespaces: {done.stderr.strip()}" if done.returncode else ""


class Enclosure:
    """The namespaces; `command` makes a command line that runs in them."""

    def __init__(self, folder: Path, log: Path) -> None:
        """Starts nothing."""
        self._ready = folder / "enclosed"
        script = _INIT.format(places=" ".join(PRIVATE), ready=self._ready)
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
        self.part = Daemon("enclosure", [*words, "sh", "-c", script], log, self._ready.exists)

    def start(self) -> None:
        """Make them; raises StartError."""
        self._ready.unlink(missing_ok=True)
        self.part.start()
        self.part.wait_ready(time.monotonic() + READY_SECONDS)

    def command(self, words: Sequence[str]) -> list[str]:
        """The words, run inside."""
        return ["nsenter", f"--target={self._first()}", "--mount", "--pid", "--", *words]

    def end(self) -> None:
        """Kill all that is inside, and wait until it is gone: the first process ends last."""
        if self.part.alive:
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(self._first(), signal.SIGKILL)
        self.part.end(GONE_SECONDS)

    def _first(self) -> int:
        process = self.part.process
        if process is None:
            raise RuntimeError("the enclosure does not run")
        return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
