"""Two demos on one machine: each has ports of its own, and another's answer makes nothing ready."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkube.children import free_port
from devkube.demo.installation import Installation
from devkube.demo.ports import Ports, listens
from devkube.demo.supervisor import PortTakenError, Program, Supervised, Supervisor, begin

CHOOSE = (
    "import json, pathlib, sys; from devkube.demo.installation import Installation;"
    "one = Installation(pathlib.Path(sys.argv[1]));"
    "print(json.dumps(one.ports({'web': int(sys.argv[2]), 'valkey': None})), flush=True); sys.stdin.read()"
)
BIND = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(30)"
IDLE = "import time; time.sleep(30)"


@pytest.fixture
def stranger() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def at_once() -> bool:
    return True


def program(folder: Path, code: str, port: int) -> Supervised:
    words = [sys.executable, "-S", "-c", code, str(port)]
    return Supervised(Program("web", words, folder, at_once, dict(os.environ), port=port), folder)


def test_two_starts_in_the_same_moment_never_choose_the_same_port(tmp_path: Path) -> None:
    usual = free_port()
    starts = [
        subprocess.Popen(
            [sys.executable, "-c", CHOOSE, str(tmp_path / f"demo-{n}"), str(usual)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(2)
    ]
    chosen = [start.stdout.readline() for start in starts if start.stdout]
    for start in starts:
        start.communicate("")
    ports = [port for line in chosen for port in json.loads(line).values()]
    assert (len(set(ports)), usual in ports) == (4, True)


def test_a_busy_port_leads_to_the_next_one(stranger: int) -> None:
    ports = Ports()
    chosen = ports.take(None, stranger)
    ports.release()
    assert stranger < chosen < stranger + 20


def test_a_reserved_port_is_free_again_when_its_start_ends(tmp_path: Path) -> None:
    one, other, usual = Installation(tmp_path / "one"), Installation(tmp_path / "other"), free_port()
    with one.held():
        first = one.ports({"web": usual})["web"]
        assert other.ports({"web": usual})["web"] != first
        other.release_ports()
    again = Installation(tmp_path / "third")
    assert again.ports({"web": usual})["web"] == first
    again.release_ports()


def test_only_the_process_that_listens_counts_as_listening(stranger: int) -> None:
    assert listens(os.getpid(), stranger)
    assert not listens(os.getppid(), stranger)
    assert not listens(os.getpid(), free_port())


def test_a_process_whose_files_may_not_be_looked_at_is_taken_at_its_word(stranger: int) -> None:
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        assert listens(1, stranger)
    finally:
        if root:
            os.seteuid(0)


async def test_anothers_answer_does_not_make_a_program_ready(tmp_path: Path, stranger: int) -> None:
    member = program(tmp_path, IDLE, stranger)
    member.start()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(member.until_ready(), 0.5)
    await member.stop()


async def test_a_program_is_ready_when_it_listens_itself(tmp_path: Path) -> None:
    member = program(tmp_path, BIND, free_port())
    member.start()
    await asyncio.wait_for(member.until_ready(), 10)
    await member.stop()


async def test_a_port_taken_before_it_was_bound_is_told_from_any_other_end(tmp_path: Path, stranger: int) -> None:
    member = program(tmp_path, BIND, stranger)
    member.start()
    with pytest.raises(PortTakenError, match="Address already in use"):
        await asyncio.wait_for(member.until_ready(), 10)
    await member.stop()


async def test_a_start_whose_port_was_taken_begins_anew_with_another(tmp_path: Path, stranger: int) -> None:
    said: list[str] = []
    supervisor = Supervisor(tmp_path / "logs", said.append, lambda _pids: None)
    offered = iter([stranger, free_port()])

    async def set_up() -> None:
        await supervisor.start([program(tmp_path, BIND, next(offered)).program])

    await asyncio.wait_for(begin(supervisor, set_up), 20)
    assert (len(said), len(supervisor.members)) == (1, 1)
    await supervisor.stop()
