"""The demo's supervisor on small programs: order, readiness, restarts, a clean end, one installation at a time."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from devkube.children import alive, free_port
from devkube.demo.installation import AlreadyRunningError, Installation, random_token
from devkube.demo.supervisor import Program, StartError, Supervised, Supervisor

SLEEPER = (
    "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0));"
    "open(sys.argv[1], 'a').write('up'); time.sleep(60)"
)


def sleeper(
    folder: Path, name: str, code: str = SLEEPER, ready: Callable[[], Awaitable[bool]] | None = None
) -> Program:
    mark = folder / f"{name}.mark"

    async def marked() -> bool:
        return mark.exists()

    return Program(name, [sys.executable, "-S", "-c", code, str(mark)], folder, ready or marked, dict(os.environ))


def supervisor(folder: Path, said: list[str], pids: dict[str, int] | None = None) -> Supervisor:
    kept: dict[str, int] = {} if pids is None else pids

    def changed(now: dict[str, int]) -> None:
        kept.clear()
        kept.update(now)

    return Supervisor(folder / "logs", said.append, changed)


async def test_stages_start_in_order_and_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    pids: dict[str, int] = {}
    said: list[str] = []
    made = supervisor(tmp_path, said, pids)
    await made.start([sleeper(tmp_path, "base")])
    await made.start([sleeper(tmp_path, "left"), sleeper(tmp_path, "right")])
    running = dict(pids)
    assert ("base" in said[0], sorted(running)) == (True, ["base", "left", "right"])
    await made.stop()
    assert not any(alive(pid) for pid in running.values())
    assert pids == {}


async def test_a_program_that_dies_is_told_and_started_again(tmp_path: Path) -> None:
    pids: dict[str, int] = {}
    said: list[str] = []
    made = supervisor(tmp_path, said, pids)
    await made.start([sleeper(tmp_path, "web")])
    stop, first = asyncio.Event(), pids["web"]
    watching = asyncio.create_task(made.watch(stop))
    os.kill(first, signal.SIGKILL)
    while "web is started again" not in "".join(said):
        await asyncio.sleep(0.05)
    stop.set()
    await watching
    await made.stop()
    assert any("web ended by signal SIGKILL; it is started again in 2 s" in line for line in said)
    assert pids.get("web") != first


async def test_a_program_that_ends_at_once_stops_the_start_with_its_log(tmp_path: Path) -> None:
    made = supervisor(tmp_path, [])
    with pytest.raises(StartError, match="web ended at once:\nno such table"):
        await made.start([sleeper(tmp_path, "web", "print('no such table')")])
    await made.stop()


async def test_a_child_left_in_the_session_goes_with_its_program(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; child = subprocess.Popen(['sleep', '60']);"
        "open(sys.argv[1], 'w').write(str(child.pid)); time.sleep(60)"
    )
    made = supervisor(tmp_path, [])
    await made.start([sleeper(tmp_path, "worker", code)])
    await asyncio.sleep(0.1)
    child = int((tmp_path / "worker.mark").read_text())
    await made.stop()
    for _ in range(100):
        if alive(child):
            await asyncio.sleep(0.02)
    assert not alive(child)


def test_a_log_stays_bounded_while_its_process_goes_on_writing(tmp_path: Path) -> None:
    member = Supervised(sleeper(tmp_path, "web"), tmp_path)
    with member.log.open("ab") as output:
        output.write(b"x" * 6_000_000)
        output.flush()
        member.trim_log()
        output.write(b"next")
    assert (member.log.read_bytes(), (tmp_path / "web.log.1").stat().st_size) == (b"next", 5 * 1024 * 1024)


def test_an_installation_keeps_secrets_and_ports_and_keeps_them_private(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    first = Installation(home).secrets({"A": random_token})
    again = Installation(home).secrets({"A": random_token, "B": random_token})
    installation = Installation(home)
    ports = installation.ports({"web": None, "postgres": None})
    installation.release_ports()
    assert again["A"] == first["A"]
    assert installation.ports({"web": 1, "postgres": None}) == ports
    installation.release_ports()
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in home.glob("*.*")} == {
        "secrets.env": "0o600",
        "ports.json": "0o600",
    }


def test_a_busy_port_is_avoided(tmp_path: Path) -> None:
    import socket

    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        assert free_port(taken) != taken


def test_a_second_start_is_refused(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "demo")
    with installation.held(), pytest.raises(AlreadyRunningError, match=str(os.getpid())), installation.held():
        pass
    with installation.held():
        pass


def test_a_new_start_ends_what_a_killed_one_left(tmp_path: Path) -> None:
    import subprocess

    installation = Installation(tmp_path / "demo")
    left = subprocess.Popen(["sleep", "60"])
    installation.note_running({"worker": left.pid})
    installation.end_left_behind()
    assert left.wait() == -signal.SIGTERM
