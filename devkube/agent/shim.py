"""The parent of one container's process: writes its log, keeps its exit code, outlives the agent.

Started as `python -m devkube.agent.shim FOLDER`; FOLDER/spec.json says what to run. Writes FOLDER/pid.json at the
start and FOLDER/exit.json at the end. SIGTERM goes on to the process; SIGUSR1 kills the whole tree. The lock on
FOLDER/lock, inherited from the agent, says that it lives. Only the standard library: one runs per container.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from devkube.agent.clock import now
from devkube.agent.cri import CriLog
from devkube.agent.proc import descendants, resident_bytes

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
DRAIN_SECONDS = 2.0
MEMORY_LOOK_SECONDS = 0.5


def main(folder: Path) -> None:
    """Run the command of FOLDER/spec.json to its end."""
    spec = json.loads((folder / "spec.json").read_text())
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # a daemon of the container comes back to us instead of escaping
    log = CriLog(Path(spec["log"]), rotate_bytes=spec["rotate_bytes"], rotate_files=spec["rotate_files"])
    started = now()
    try:
        shim = Shim(spec, log)
    except OSError as error:
        program = spec["argv"][0]
        found = "permission denied" if isinstance(error, PermissionError) else "executable file not found in $PATH"
        message = f'failed to start container: exec: "{program}": {found}'
        ended = {"code": 128, "reason": "StartError", "message": message}
    else:
        write(folder / "pid.json", {"pid": shim.pid, "shim": os.getpid(), "started": started})
        ended = shim.run()
    log.close()
    write(folder / "exit.json", {**ended, "started": started, "finished": now()})


def write(path: Path, value: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(value))
    fresh.rename(path)


class Shim:
    """The loop around one process."""

    def __init__(self, spec: dict[str, Any], log: CriLog) -> None:
        """Start the process; raises OSError."""
        self.log = log
        self.memory = int(spec["memory_bytes"])
        self.out_of_memory = False
        self.status: int | None = None
        self.wake, wake_writer = os.pipe()
        for end in (self.wake, wake_writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, self._hear)
        account = spec["account"]
        self.stopping = False
        self.child: subprocess.Popen[bytes] | None = None
        (from_out, out), (from_err, err) = os.pipe(), os.pipe()
        child = subprocess.Popen(
            spec["argv"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=spec["cwd"],
            env=spec["env"],
            user=account,
            group=account,
            extra_groups=None if account is None else [],
            start_new_session=True,
            preexec_fn=_die_with_shim,  # noqa: PLW1509 - this process has one thread
        )
        os.close(out)
        os.close(err)
        self.child = child
        self.streams = {from_out: "stdout", from_err: "stderr"}
        if self.stopping:  # asked to stop while it was being started
            self._terminate()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.child.pid if self.child else 0

    def _hear(self, number: int, frame: object) -> None:
        if number == signal.SIGTERM:
            self.stopping = True
            self._terminate()
        elif number == signal.SIGUSR1:
            self._kill_tree()

    def _terminate(self) -> None:
        """SIGTERM to the process. Popen's own way would first collect its end, which ``_reap`` would then miss."""
        if self.child is not None and self.status is None:
            try:
                os.kill(self.child.pid, signal.SIGTERM)
            except ProcessLookupError:
                return

    def _kill_tree(self) -> None:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def run(self) -> dict[str, Any]:
        """Copy output until the process has ended and its pipes are empty; return code, reason and message."""
        give_up = float("inf")
        while self.streams or self.status is None:
            self._look(min(MEMORY_LOOK_SECONDS, max(0.0, give_up - time.monotonic())) if self.memory else 5.0)
            self._reap()
            if self.status is not None and give_up == float("inf"):
                self._kill_tree()  # as when the first process of a container ends
                give_up = time.monotonic() + DRAIN_SECONDS
            if time.monotonic() >= give_up:
                break
        self._kill_tree()
        return self._ended()

    def _look(self, seconds: float) -> None:
        ready, _, _ = select.select([self.wake, *self.streams], [], [], min(seconds, DRAIN_SECONDS))
        for source in ready:
            data = os.read(source, 65536)
            if source == self.wake:
                continue
            if data:
                self.log.feed(self.streams[source], data)
            else:
                del self.streams[source]
        if self.memory and self.status is None and resident_bytes(os.getpid()) > self.memory:
            self.out_of_memory = True
            self._kill_tree()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.child is not None and pid == self.child.pid:
                self.status = status
                self.child.returncode = os.waitstatus_to_exitcode(status)

    def _ended(self) -> dict[str, Any]:
        code = os.waitstatus_to_exitcode(self.status or 0)
        code = 128 - code if code < 0 else code
        if self.out_of_memory:
            return {"code": 137, "reason": "OOMKilled", "message": ""}
        return {"code": code, "reason": "Error" if code else "Completed", "message": ""}


def _die_with_shim() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
