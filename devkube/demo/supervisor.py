"""Starts processes in stages, keeps them running, stops them in reverse order.

A supervisor of our own because honcho neither orders starts, nor waits for readiness, nor restarts what died.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devkube.children import Account, free_port, start
from devkube.demo.ports import listens

READY_SECONDS = 120.0
STEADY_SECONDS = 60.0
LONGEST_PAUSE = 30.0
LOOK_SECONDS = 0.1
LOG_BYTES = 5 * 1024 * 1024
LOG_LOOK_SECONDS = 10.0
CHOICES = 3


class StartError(RuntimeError):
    """A process did not become ready; the message has the end of its log."""


class PortTakenError(StartError):
    """Somebody else listens on the port that was chosen for a program: choose anew."""


@dataclass(frozen=True, slots=True)
class Program:
    """One process to keep running. `ready` is asked again and again; `grace` seconds lie between stop and SIGKILL.

    With a `port` it is ready only when it listens there itself: another's answer proves nothing.
    """

    name: str
    argv: Sequence[str]
    cwd: Path
    ready: Callable[[], Awaitable[bool]]
    env: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    stop: signal.Signals = signal.SIGTERM
    grace: float = 20.0
    port: int | None = None


class Supervised:
    """A program and its present process."""

    def __init__(self, program: Program, logs: Path) -> None:
        """Nothing runs yet."""
        self.program = program
        self.log = logs / f"{program.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self._pause = 1.0
        self._since = 0.0
        self._again_at = 0.0

    def start(self) -> None:
        """Start the process; call it in the main thread (devkube.children)."""
        program = self.program
        self.process = start(
            program.argv, log=self.log, cwd=program.cwd, env=program.env, account=program.account, stop=program.stop
        )
        self._since = time.monotonic()

    async def until_ready(self) -> None:
        """Wait until the program itself says that it is ready; raises StartError, PortTakenError."""
        give_up = time.monotonic() + READY_SECONDS
        while not await self._ready():
            if time.monotonic() > give_up:
                raise StartError(f"{self.program.name} is not ready after {READY_SECONDS:.0f} s:\n{tail(self.log)}")
            await asyncio.sleep(LOOK_SECONDS)

    async def _ready(self) -> bool:
        answered = await self.program.ready()
        if self.process is None or self.process.poll() is not None:
            told = f"{self.program.name} ended at once:\n{tail(self.log)}"
            port = self.program.port
            raise PortTakenError(told) if port and free_port(port) != port else StartError(told)
        return answered and (self.program.port is None or listens(self.process.pid, self.program.port))

    def revive(self) -> str:
        """Start it again when it died and its pause is over; a line for the person watching when there is news."""
        now = time.monotonic()
        if self.process is None:
            if now < self._again_at:
                return ""
            self.restarts += 1
            self.start()
            return f"{self.program.name} is started again"
        code = self.process.poll()
        if code is None:
            return ""
        kill_session(self.process.pid)
        self._pause = 1.0 if now - self._since > STEADY_SECONDS else min(self._pause * 2, LONGEST_PAUSE)
        self._again_at = now + self._pause
        self.process = None
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        return f"{self.program.name} ended {how}; it is started again in {self._pause:.0f} s (log: {self.log})"

    async def stop(self) -> None:
        """Stop it, insist after its grace, and take along what it left in its session."""
        process = self.process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(self.program.stop)
            await wait_for_end(process, self.program.grace)
        kill_session(process.pid)
        if process.poll() is None:
            process.kill()
            process.wait()
        self.process = None

    def trim_log(self) -> None:
        """Keep the log bounded: past 5 MB its text moves to `<log>.1` and it begins anew."""
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > LOG_BYTES:
                self.log.with_suffix(".log.1").write_bytes(self.log.read_bytes()[-LOG_BYTES:])
                os.truncate(self.log, 0)  # the process appends, so it goes on at the new end


class Supervisor:
    """Stages of programs. `say` gets a line for each thing that happens, `changed` the pids after each change."""

    def __init__(self, logs: Path, say: Callable[[str], None], changed: Callable[[dict[str, int]], None]) -> None:
        """Nothing runs yet."""
        logs.mkdir(parents=True, exist_ok=True)
        self._logs, self._say, self._changed = logs, say, changed
        self._stages: list[list[Supervised]] = []

    @property
    def members(self) -> list[Supervised]:
        """All programs started so far, in order."""
        return [member for stage in self._stages for member in stage]

    async def start(self, programs: Sequence[Program]) -> None:
        """Start one stage side by side and wait until all of it is ready; raises StartError."""
        stage = [Supervised(program, self._logs) for program in programs]
        self._stages.append(stage)
        for member in stage:
            member.start()
        self._tell()
        began = time.monotonic()

        async def one(member: Supervised) -> None:
            await member.until_ready()
            self._say(f"[green]✓[/green] {member.program.name} [dim]{time.monotonic() - began:.1f} s[/dim]")

        waits = [asyncio.ensure_future(one(member)) for member in stage]
        try:
            await asyncio.gather(*waits)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def watch(self, stop: asyncio.Event) -> None:
        """Keep everything running until `stop`."""
        trimmed = time.monotonic()
        while not stop.is_set():
            for member in self.members:
                if news := member.revive():
                    self._say(f"[yellow]![/yellow] {news}")
                    self._tell()
            if time.monotonic() - trimmed > LOG_LOOK_SECONDS:
                trimmed = time.monotonic()
                for member in self.members:
                    member.trim_log()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)

    async def stop(self) -> None:
        """Stop the stages in reverse order, each side by side."""
        while self._stages:
            await asyncio.gather(*(member.stop() for member in self._stages[-1]))
            self._stages.pop()
        self._changed({})

    def _tell(self) -> None:
        self._changed({each.program.name: each.process.pid for each in self.members if each.process})


async def begin(supervisor: Supervisor, set_up: Callable[[], Awaitable[None]]) -> None:
    """Run `set_up`; when a port was taken meanwhile, stop everything and set up again with others."""
    for choice in range(1, CHOICES + 1):
        try:
            await set_up()
        except PortTakenError:
            if choice == CHOICES:
                raise
            await supervisor.stop()
        else:
            return


async def wait_for_end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait at most so long for a child to end; polled, so that no thread per child is needed."""
    give_up = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < give_up:  # noqa: ASYNC110 - a child has no asyncio event
        await asyncio.sleep(0.02)


def kill_session(leader: int) -> None:
    """SIGKILL what a process that we started in a session of its own left in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def tail(path: Path, size: int = 3000) -> str:
    """The last bytes of a log."""
    return path.read_bytes()[-size:].decode(errors="replace") if path.exists() else ""
