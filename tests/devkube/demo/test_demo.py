"""The whole demo as a newcomer starts it: a Job runs while every process is killed once; nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import httpx
import pytest

from devkube.children import alive
from devkube.demo.programs import inherited_environment

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("demo")]
LINES = 300
PLATFORM = ("worker", "web", "observer", "beat")


class Demo:
    """A running demo and its engineer."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.output = home.parent / "output"
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "devkube.demo", "start", "--home", str(home)],
                env=inherited_environment(),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.until(lambda: "ready after" in self.output.read_text(), 200)
        access = json.loads((home / "access.json").read_text())
        token = next(login["token"] for login in access["logins"] if login["role"] == "engineer")
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=access["url"] + "/api/v1", headers=headers, timeout=20, trust_env=False)

    @property
    def pids(self) -> dict[str, int]:
        """The processes by name."""
        return {name: pid for name, (pid, _) in json.loads((self.home / "running.json").read_text()).items()}

    def until(self, wanted: Callable[[], Any], seconds: float = 60) -> Any:
        """What `wanted` gives once it is true; a process that is just being restarted is no failure."""
        give_up = time.monotonic() + seconds
        while True:
            try:
                if found := wanted():
                    return found
            except httpx.HTTPError:
                pass
            assert self.process.poll() is None, self.output.read_text()[-3000:]
            assert time.monotonic() < give_up, self.output.read_text()[-3000:]
            time.sleep(0.1)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        answer = self.http.get(path, params=query)
        return answer.json() if answer.status_code == 200 else {}

    def kill(self, name: str) -> None:
        """kill -9, then wait until the supervisor has started it again."""
        before = self.pids[name]
        os.kill(before, signal.SIGKILL)
        self.until(lambda: self.pids.get(name, before) != before)

    def instances(self, task: str) -> list[tuple[int, str]]:
        """Restarts and state of each pod of a task."""
        found = self.get(f"/tasks/{task}/instances").get("results", [])
        return [(each["restarts"], each["state"]) for each in found]

    def lines(self, task: str) -> list[str]:
        found: list[str] = []
        after: str | None = None
        while True:
            page = self.get(f"/tasks/{task}/logs", limit=200, **({"after": after} if after else {}))
            found += [line["text"] for line in page.get("lines", [])]
            after = page["lines"][-1]["place"] if page.get("lines") else None
            if not page.get("next"):
                return found


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    folder = Path(tempfile.mkdtemp(prefix="demo-"))
    folder.chmod(0o755)
    made = Demo(folder / "home")
    yield made
    pids = made.pids
    made.process.send_signal(signal.SIGINT)
    assert made.process.wait(60) == 0
    assert [name for name, pid in pids.items() if alive(pid)] == []
    rmtree(folder)


def job(script: str) -> dict[str, Any]:
    """A Job on one card that runs a shell script."""
    container = {"name": "main", "image": "registry/train:1", "command": ["sh", "-c", script]}
    resources = {"mark": "rtx-4090", "cards_per_node": 1, "nodes": 1}
    names = {"kind": "Job", "display_name": "walk", "project": "map-team"}
    return {**names, "resources": resources, "containers": [container]}


def test_every_process_may_be_killed_while_a_job_runs(demo: Demo) -> None:
    answer = demo.http.post("/tasks", json=job(f"for i in $(seq {LINES}); do echo line $i; sleep 0.1; done"))
    assert answer.status_code == 201, answer.text
    task = answer.json()["id"]
    demo.until(lambda: demo.get(f"/tasks/{task}").get("state") == "running")
    cluster = demo.get(f"/tasks/{task}")["cluster"]
    for name in (*PLATFORM, f"logs of {cluster}", f"nodes of {cluster}", f"cluster {cluster}", "valkey", "postgres"):
        demo.kill(name)
    demo.until(lambda: demo.get(f"/tasks/{task}").get("state") == "succeeded", 120)
    demo.until(lambda: len(demo.lines(task)) >= LINES)
    assert demo.lines(task) == [f"line {n}" for n in range(1, LINES + 1)]
    demo.until(lambda: demo.instances(task) == [(0, "succeeded")])
    assert demo.get(f"/tasks/{task}")["attempt"] == 1
