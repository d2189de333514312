"""The runs of containers on disk, and their processes: start, adopt, signal, wait, clear away.

DIR/run/<pod uid>/<container>/<n>/ holds one run: spec.json (what was started), lock (held by its shim as long as that
lives), pid.json, exit.json, `interrupted` (the agent itself stopped it). Nothing else is remembered, so an agent that
comes back after kill -9 knows what it left by looking.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import devkube
from devkube.agent.clock import monotonic, now
from devkube.agent.cri import ROTATE_BYTES, ROTATE_FILES
from devkube.agent.launch import Launch

# Outside what distributions hand out: when the agent is root, its containers are not.
CONTAINER_UID = 61_000
START_SECONDS = 20.0
POLL_SECONDS = 0.05
LOST = "The container could not be located when the pod was terminated"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended; times in seconds since the epoch."""

    code: int
    reason: str
    message: str
    started: float
    finished: float


@dataclass(frozen=True, slots=True)
class Run:
    """One start of one container; `number` is its restart count, `streak` the crashes in a row before it."""

    uid: str
    container: str
    number: int
    folder: Path
    streak: int

    @property
    def started(self) -> float | None:
        """When its process started, None while it has not."""
        found = _read(self.folder / "pid.json")
        return float(found["started"]) if found else None

    @property
    def begun(self) -> bool:
        """False for a folder that an agent made just before it was killed: nothing ever ran there."""
        files = (self.folder / "exit.json", self.folder / "pid.json")
        return any(file.exists() for file in files) or self.alive()

    @property
    def interrupted(self) -> bool:
        """True when the agent stopped it because the agent itself stopped."""
        return (self.folder / "interrupted").exists()

    @property
    def spec(self) -> dict[str, Any]:
        """What was started: argv, env, cwd, account."""
        return _read(self.folder / "spec.json") or {}

    def alive(self) -> bool:
        """True while its shim lives."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
        finally:
            os.close(lock)
        return False

    def ended(self) -> Ended | None:
        """How it ended, None while it runs; a shim that vanished leaves code 137."""
        found = _read(self.folder / "exit.json")
        if found is None and self.alive():
            return None
        found = _read(self.folder / "exit.json")  # it may have been written between the two looks
        if found is not None:
            return Ended(**found)
        at = self.started or self.folder.stat().st_mtime
        lost = Ended(137, "ContainerStatusUnknown", LOST, at, now())
        _write(self.folder / "exit.json", {name: getattr(lost, name) for name in Ended.__slots__})
        return lost


class Runs:
    """All runs below one data folder."""

    def __init__(self, data: Path, *, rotate_bytes: int = ROTATE_BYTES, rotate_files: int = ROTATE_FILES) -> None:
        self.root = data / "run"
        self.root.mkdir(parents=True, exist_ok=True)
        self.rotate = {"rotate_bytes": rotate_bytes, "rotate_files": rotate_files}
        self.account = CONTAINER_UID if os.geteuid() == 0 else None
        self._shims: dict[Path, subprocess.Popen[bytes]] = {}

    def pods(self) -> list[str]:
        """The uids of pods that have a folder."""
        return [folder.name for folder in self.root.iterdir() if folder.is_dir()]

    def of(self, uid: str, container: str) -> list[Run]:
        """The kept runs of a container, oldest first."""
        base = self.root / uid / container
        if not base.is_dir():
            return []
        runs = [self._run(uid, container, number) for number in sorted(int(folder.name) for folder in base.iterdir())]
        return [run for run in runs if run.begun]

    def latest(self, uid: str, container: str) -> Run | None:
        """The newest run of a container."""
        found = self.of(uid, container)
        return found[-1] if found else None

    def folder(self, uid: str, container: str, number: int) -> Path:
        """Where a run lives."""
        return self.root / uid / container / str(number)

    def any_alive(self, uid: str) -> bool:
        """True while a container of the pod has a process."""
        return any(Run(uid, path.parent.parent.name, 0, path.parent, 0).alive() for path in self._locks(uid))

    def _locks(self, uid: str) -> list[Path]:
        return list((self.root / uid).glob("*/*/lock"))

    def _run(self, uid: str, container: str, number: int) -> Run:
        folder = self.folder(uid, container, number)
        spec = _read(folder / "spec.json") or {}
        return Run(uid, container, number, folder, int(spec.get("streak", 0)))

    async def start(self, uid: str, container: str, launch: Launch, *, log: Path, number: int, streak: int) -> Run:
        """Start a run and return once its process lives or has failed to start; raises OSError without a shim."""
        folder = launch.folder
        for path in (folder, *launch.volumes):
            path.mkdir(parents=True, exist_ok=True)
            if self.account is not None and path != folder:
                os.chown(path, self.account, self.account)
        spec: dict[str, Any] = {
            "argv": launch.argv,
            "env": dict(launch.env),
            "cwd": str(folder / "work"),
            "log": str(log),
        }
        spec |= {"memory_bytes": launch.memory_bytes, "account": self.account, "streak": streak, **self.rotate}
        _write(folder / "spec.json", spec)
        self._spawn(folder)
        run = self._run(uid, container, number)
        give_up = monotonic() + START_SECONDS
        while run.started is None and run.ended() is None and monotonic() < give_up:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0.01)  # another process writes the file: there is no event to wait for
        for old in self.of(uid, container)[:-2]:
            shutil.rmtree(old.folder, ignore_errors=True)
        return run

    def _spawn(self, folder: Path) -> None:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with (folder / "shim.log").open("ab") as errors:
                self._shims[folder] = subprocess.Popen(
                    [sys.executable, "-S", "-m", "devkube.agent.shim", str(folder)],
                    env={"PYTHONPATH": str(Path(devkube.__file__).parent.parent)},
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        finally:
            os.close(lock)

    async def wait(self, run: Run) -> Ended:
        """Wait for the end of a run, ours or adopted."""
        while True:
            ended = run.ended()
            if ended is not None:
                if shim := self._shims.pop(run.folder, None):
                    await asyncio.to_thread(shim.wait)
                return ended
            await asyncio.sleep(POLL_SECONDS)

    def ask_to_stop(self, run: Run) -> None:
        """Send SIGTERM to the run's first process."""
        self._signal(run, signal.SIGTERM)

    def kill(self, run: Run) -> None:
        """Send SIGKILL to the run's whole tree."""
        self._signal(run, signal.SIGUSR1)

    def _signal(self, run: Run, number: signal.Signals) -> None:
        # The shim is asked, not the process: only the parent can know that a pid is still its child's.
        pid = self._shim_pid(run)
        if pid and run.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _shim_pid(self, run: Run) -> int | None:
        if shim := self._shims.get(run.folder):
            return shim.pid
        started = _read(run.folder / "pid.json")
        return int(started["shim"]) if started else None

    def mark_interrupted(self, run: Run) -> None:
        """Remember that the agent stops this run only because the agent stops."""
        (run.folder / "interrupted").touch()

    def remember(self, uid: str, pod: dict[str, Any]) -> None:
        """Keep the pod beside its runs: for the shipper, and for a clean-up after the pod is gone."""
        folder = self.root / uid
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "pod.json", pod)

    def remembered(self, uid: str) -> dict[str, Any] | None:
        """The pod as it was last seen."""
        return _read(self.root / uid / "pod.json")

    def clear(self, uid: str) -> None:
        """Remove the working folders of a pod that is gone; its logs and pod.json stay."""
        for folder in (self.root / uid).glob("*/"):
            shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_bytes())  # type: ignore[no-any-return] # JSON carries no types
    except (FileNotFoundError, ValueError):
        return None


def _write(path: Path, value: dict[str, Any]) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(value))
    fresh.rename(path)
