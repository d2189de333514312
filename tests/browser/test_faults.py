"""What the walk survives: a kill -9 of each process, a dead cluster, eight at once for four cards."""

from __future__ import annotations

import os
import signal
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.demo import Demo, a_task, lines_of, state_of, submitted, until

COUNT = "for i in $(seq 40); do echo line $i; sleep 0.25; done"
PLATFORM = ("web", "worker", "beat", "observer")
PLANT = ("cluster beijing", "nodes of beijing", "logs of beijing")


def kill(demo: Demo, name: str) -> None:
    """kill -9, and wait until the supervisor has started its successor."""
    old = demo.processes()[name]
    os.kill(old, signal.SIGKILL)
    until(lambda: demo.processes().get(name, old) != old, what=f"{name} is restarted")


@pytest.mark.parametrize("victim", [*PLATFORM, *PLANT])
def test_a_kill_of_any_process_loses_and_doubles_nothing(demo: Demo, engineer: httpx.Client, victim: str) -> None:
    """The task is submitted, its process killed while it starts and runs, and it still ends once, with every line."""
    pk = submitted(engineer, a_task(f"killed-{victim.replace(' ', '-')}", COUNT))
    until(lambda: state_of(engineer, pk) in {"starting", "running"}, what="the task is on its way")
    time.sleep(1)
    kill(demo, victim)
    until(lambda: _answers(demo), what="the web process answers")
    until(lambda: state_of(engineer, pk) == "succeeded", seconds=90, what="the task has succeeded")
    wanted = [f"line {number}" for number in range(1, 41)]
    until(lambda: lines_of(engineer, pk) == wanted, seconds=30, what="every line once")
    assert len(engineer.get(f"/tasks/{pk}/instances").json()["results"]) == 1
    assert _held(engineer, pk) is False


def _answers(demo: Demo) -> bool:
    try:
        return httpx.get(f"{demo.url}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _held(caller: httpx.Client, pk: str) -> bool:
    rows = caller.get("/quotas", params={"project": "map-team"}).json()["results"]
    return any(pk in row["holders"] for row in rows)


def test_eight_at_once_for_four_cards_are_exactly_four(demo: Demo, engineer: httpx.Client) -> None:
    rows = engineer.get("/quotas", params={"project": "perception"}).json()["results"]
    quota = next(row for row in rows if row["resource"] == "cards:a100-80g")
    assert (quota["limit"], quota["used"]) == (4, 0)
    card = {"mark": "a100-80g", "cards_per_node": 1, "nodes": 1}

    def submit(number: int) -> int:
        task = a_task(f"race-{number}", "sleep 600", project="perception", resources=card)
        with demo.as_role("engineer") as caller:
            return caller.post("/tasks", json=task).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(submit, range(8)))
    assert answers == [201] * 4 + [409] * 4
    for task in engineer.get("/tasks", params={"project": "perception"}).json()["results"]:
        engineer.delete(f"/tasks/{task['id']}")


def test_a_dead_cluster_leaves_the_others_fast(demo: Demo, engineer: httpx.Client) -> None:
    """F17: stopped without closing, so its connections hang; pages and new tasks elsewhere go on."""
    before = _p95(engineer)
    victim = demo.processes()["cluster shanghai"]
    os.kill(victim, signal.SIGSTOP)
    try:
        silent = until(lambda: _silent(engineer, "shanghai"), seconds=120, what="shanghai is seen silent")
        assert silent["reachable"] is False
        pk = submitted(engineer, a_task("beside-the-dead", "echo here"))
        until(lambda: state_of(engineer, pk) == "succeeded", seconds=60, what="a task elsewhere succeeds")
        assert _p95(engineer) <= max(2 * before, 0.1)
    finally:
        os.kill(victim, signal.SIGCONT)
    until(lambda: not _silent(engineer, "shanghai"), seconds=120, what="shanghai is back")


def _silent(caller: httpx.Client, name: str) -> dict[str, object]:
    rows: list[dict[str, object]] = caller.get("/clusters").json()["results"]
    row = next(row for row in rows if row["name"] == name)
    return {} if row["reachable"] else row


def _p95(caller: httpx.Client) -> float:
    times = []
    for _number in range(40):
        started = time.perf_counter()
        caller.get("/tasks").raise_for_status()
        times.append(time.perf_counter() - started)
    return statistics.quantiles(times, n=20)[-1]


def test_nothing_of_a_stopped_task_is_left_on_the_machine(demo: Demo, engineer: httpx.Client) -> None:
    pk = submitted(engineer, a_task("leaves-nothing", "exec sleep 54321"))
    until(lambda: state_of(engineer, pk) == "running", what="it runs")
    until(lambda: _sleepers() == 1, seconds=10, what="its process is there")
    engineer.post(f"/tasks/{pk}/stop")
    until(lambda: state_of(engineer, pk) == "stopped", what="it is stopped")
    assert _sleepers() == 0


def _sleepers() -> int:
    found = 0
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += command.read_bytes().startswith(b"sleep\x0054321")
        except OSError:
            continue
    return found
