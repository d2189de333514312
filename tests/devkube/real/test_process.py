"""A plane in the foreground (`python -m devkube.real`), as the demo's supervisor runs it."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from devkube.children import alive, free_port
from devkube.real.__main__ import READY
from devkube.real.daemon import Daemon
from devkube.real.tools import Toolbox
from tests.support.kubernetes import until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]


@contextmanager
def foreground(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The process, once it has said that it is ready; its output is in `folder`/said."""
    words = [sys.executable, "-m", "devkube.real", "--name", "front", "--folder", str(folder), "--port", str(port)]
    said = folder / "said"
    with said.open("w") as output:
        process = subprocess.Popen(words, env={**os.environ, "DEVKUBE_TOKEN": "s"}, stdout=output, stderr=output)
    try:
        until(lambda: READY in said.read_text() or process.poll() is not None, 60)
        yield process
    finally:
        process.kill()
        process.wait()


def programs(folder: Path) -> dict[str, int]:
    """Process ids of the programs that work for this folder, by name."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        words = path.read_text(errors="replace").split("\0") if alive(int(path.parent.name)) else [""]
        if words[0].startswith("/") and any(str(folder) in word for word in words[1:]):
            found[Path(words[0]).name] = int(path.parent.name)
    return {name: pid for name, pid in found.items() if not name.startswith("python")}


def test_serves_with_the_token_and_port_that_were_given_and_stops_when_asked(tools: Toolbox, tmp_path: Path) -> None:
    port = free_port()
    with foreground(tmp_path, port) as process:
        assert READY in (tmp_path / "said").read_text()
        ca = str(tmp_path / "secrets" / "ca.crt")
        with httpx.Client(verify=ssl.create_default_context(cafile=ca), trust_env=False) as http:
            answer = http.get(f"https://127.0.0.1:{port}/api/v1/nodes", headers={"Authorization": "Bearer s"})
        assert answer.status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert programs(tmp_path) == {}


def test_ends_when_one_of_its_programs_dies_and_names_its_log(tools: Toolbox, tmp_path: Path) -> None:
    with foreground(tmp_path, free_port()) as process:
        os.kill(programs(tmp_path)["kube-scheduler"], signal.SIGKILL)
        assert process.wait(20) == 1
        assert f"kube-scheduler died; its log is {tmp_path}/logs/kube-scheduler.log" in (tmp_path / "said").read_text()
        assert programs(tmp_path) == {}


def test_says_how_to_build_what_is_not_built(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "devkube.real", "--folder", str(tmp_path)]
    environment = os.environ | {"DEVKUBE_TOOLS": str(tmp_path)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "not built: etcd, kube-apiserver, kube-controller-manager, kube-scheduler; `make kube"
    )


def test_a_program_is_not_started_by_a_thread_that_may_end_before_it(tmp_path: Path) -> None:
    refused: list[str] = []

    def start() -> None:
        try:
            Daemon("sleep", ["sleep", "9"], tmp_path / "log", lambda: True).start()
        except RuntimeError as error:
            refused.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refused == ["sleep is to be started in the main thread"]
