"""Real processes under their shims: output, exit codes, limits, whole trees, and an agent that was away."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkube.agent.clock import monotonic
from devkube.agent.launch import Launch
from devkube.agent.runs import Ended, Run, Runs
from devkube.agent.stopping import stop_all
from devkube.children import alive


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path)
    made.account = None  # pytest's folders are closed to other users
    yield made
    for uid in made.pods():
        for run in made.of(uid, "main"):
            made.kill(run)


async def start(runs: Runs, *argv: str, memory: int = 0) -> Run:
    folder = runs.folder("u", "main", 0)
    volumes = (folder / "work", folder / "tmp")
    launch = Launch(argv, {"PATH": "/usr/bin:/bin"}, folder, volumes, memory)
    return await runs.start("u", "main", launch, log=runs.root / "main.log", number=0, streak=0)


def said(runs: Runs) -> list[str]:
    return [line.split(" ", 3)[3] for line in (runs.root / "main.log").read_text().splitlines()]


def outcome(ended: Ended) -> tuple[int, str]:
    return ended.code, ended.reason


@pytest.mark.parametrize(
    ("script", "expected"),
    [("exit 0", (0, "Completed")), ("exit 7", (7, "Error")), ("kill -SEGV $$", (139, "Error"))],
)
async def test_exit_codes_and_signals_are_the_real_ones(runs: Runs, script: str, expected: tuple[int, str]) -> None:
    assert outcome(await runs.wait(await start(runs, "sh", "-c", script))) == expected


async def test_everything_that_was_written_before_the_end_is_in_the_log(runs: Runs) -> None:
    await runs.wait(await start(runs, "sh", "-c", "seq 3000; echo bad >&2"))
    assert sorted(said(runs)) == sorted([*(str(n) for n in range(1, 3001)), "bad"])


async def test_a_program_that_is_not_there_is_a_start_error(runs: Runs) -> None:
    ended = await runs.wait(await start(runs, "no-such-program"))
    assert (ended.code, ended.reason) == (128, "StartError")
    assert 'exec: "no-such-program": executable file not found in $PATH' in ended.message


async def test_memory_over_the_limit_is_killed_as_out_of_memory(runs: Runs) -> None:
    code = "import time; held = bytearray(200_000_000); time.sleep(30)"
    run = await start(runs, sys.executable, "-S", "-c", code, memory=100_000_000)
    assert outcome(await runs.wait(run)) == (137, "OOMKilled")


async def test_the_whole_tree_goes_with_its_first_process_even_a_daemon(runs: Runs) -> None:
    script = "setsid sh -c 'echo $$ > pid; sleep 60' & while [ ! -s pid ]; do sleep 0.01; done; exit 3"
    run = await start(runs, "sh", "-c", script)
    assert outcome(await runs.wait(run)) == (3, "Error")
    assert not Path(f"/proc/{(run.folder / 'work/pid').read_text().strip()}").exists()


async def test_a_process_that_ignores_sigterm_is_killed_after_its_grace(runs: Runs) -> None:
    run = await start(runs, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done")
    while not said(runs):
        await asyncio.sleep(0.01)
    end = monotonic() + 0.4
    await stop_all(runs, [(run, {})], lambda: end)
    ended = await runs.wait(run)
    assert outcome(ended) == (137, "Error")
    assert ended.finished - ended.started >= 0.4


async def test_the_pre_stop_hook_runs_before_sigterm(runs: Runs) -> None:
    run = await start(runs, "sh", "-c", "trap 'echo term; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    while not said(runs):
        await asyncio.sleep(0.01)
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "touch seen; sleep 0.2"]}}}}
    end = monotonic() + 5
    await stop_all(runs, [(run, hook)], lambda: end)
    assert outcome(await runs.wait(run)) == (0, "Completed")
    assert (run.folder / "work" / "seen").exists()
    assert said(runs) == ["up", "term"]


async def test_another_agent_adopts_a_process_that_still_runs(runs: Runs, tmp_path: Path) -> None:
    await start(runs, "sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; echo done; exit 5")
    successor = Runs(tmp_path)
    adopted = successor.latest("u", "main")
    assert adopted
    assert adopted.ended() is None
    (adopted.folder / "work" / "go").touch()
    assert outcome(await successor.wait(adopted)) == (5, "Error")


async def test_a_shim_that_was_killed_takes_its_process_along_and_is_told_as_lost(runs: Runs) -> None:
    run = await start(runs, "sleep", "60")
    child = next(iter((run.folder / "pid.json").read_text().split('"pid": ')[1].split(",")))
    os.kill(runs._shims[run.folder].pid, signal.SIGKILL)
    runs._shims[run.folder].wait()
    ended = await runs.wait(run)
    assert outcome(ended) == (137, "ContainerStatusUnknown")
    for _ in range(200):
        if alive(int(child)):
            await asyncio.sleep(0.02)
    assert not alive(int(child))
