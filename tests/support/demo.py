"""The whole product as `make demo` starts it, for the walks: its own folder, real processes, real logins."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

from devkube.children import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180.0
Found = TypeVar("Found")


class Demo:
    """One running installation; ``as_role`` gives REST callers, ``processes`` the process ids by name."""

    def __init__(self, home: Path) -> None:
        self.home = home
        access = json.loads((home / "access.json").read_text())
        self.url: str = access["url"]
        self.logins: dict[str, dict[str, str]] = {login["role"]: login for login in access["logins"]}

    def as_role(self, role: str) -> httpx.Client:
        """A REST client with the person's token, at /api/v1."""
        headers = {"Authorization": f"Bearer {self.logins[role]['token']}"}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def processes(self) -> dict[str, int]:
        """Process ids of the present start, by the names that the supervisor shows."""
        running = json.loads((self.home / "running.json").read_text())
        return {str(name): int(pid) for name, (pid, _started) in running.items()}


@contextmanager
def running_demo(*words: str) -> Iterator[Demo]:
    """Start the demo in a folder of its own and stop it at the end, as Ctrl-C does; ``words`` go to its start."""
    home = Path(tempfile.mkdtemp(prefix="platform-walk-"))
    # Two walks beginning at once on one machine would both find the usual port free.
    (home / "ports.json").write_text(json.dumps({"web": free_port()}))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PLATFORM_", "DJANGO_"))}
    output = home / "supervisor.txt"
    with output.open("w") as file:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "devkube.demo", "start", *words],
            cwd=ROOT,
            env=environment | {"DEMO_HOME": str(home)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: _ready(supervisor, output), seconds=START_SECONDS, what="the demo is ready")
        yield Demo(home)
    finally:
        supervisor.send_signal(signal.SIGINT)
        supervisor.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _ready(supervisor: subprocess.Popen[bytes], output: Path) -> bool:
    text = output.read_text()
    assert supervisor.poll() is None, text
    return re.search(r"ready after", text) is not None


def until(ask: Callable[[], Found], *, seconds: float = 60.0, what: str = "it") -> Found:
    """Ask until the answer is true and return it; fails naming ``what`` and the last answer."""
    give_up = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < give_up, f"waited {seconds:.0f} s in vain: {what}; last answer {answer!r}"
        time.sleep(0.1)
    return answer


def a_task(name: str, script: str, **changes: Any) -> dict[str, Any]:
    """A Job of the map team on one 4090 card that runs ``script``, in rest.md's words."""
    values: dict[str, Any] = {
        "kind": "Job",
        "display_name": name,
        "project": "map-team",
        "resources": {"mark": "rtx-4090", "cards_per_node": 1, "nodes": 1},
        "containers": [{"name": "main", "image": "busybox", "command": ["sh", "-c", script]}],
    }
    return values | changes


def submitted(caller: httpx.Client, task: dict[str, Any]) -> str:
    """Submit and return the id."""
    answer = caller.post("/tasks", json=task)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def state_of(caller: httpx.Client, pk: str) -> str:
    return str(caller.get(f"/tasks/{pk}").json()["state"])


def lines_of(caller: httpx.Client, pk: str) -> list[str]:
    """Every stored line of the task, in order."""
    found: list[str] = []
    after: str | None = None
    while True:
        words = {"limit": "1000"} | ({"after": after} if after else {})
        page = caller.get(f"/tasks/{pk}/logs", params=words).json()
        found += [line["text"] for line in page["lines"]]
        if not page["next"] or not page["lines"]:
            return found
        after = page["next"]
