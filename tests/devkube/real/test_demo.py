"""The demo on three real control planes: the same people, tasks and pages, and nothing left behind."""

from __future__ import annotations

import pytest

from devkube.children import alive
from devkube.real.tools import Toolbox
from tests.support.demo import a_task, lines_of, running_demo, state_of, submitted, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(300), pytest.mark.xdist_group("demo")]


def test_a_task_runs_on_a_real_control_plane_and_its_log_arrives(tools: Toolbox) -> None:
    with running_demo("--real") as demo:
        engineer = demo.as_role("engineer")
        good = submitted(engineer, a_task("good", "echo from a real plane; sleep 1"))
        bad = submitted(engineer, a_task("bad", "exit 3"))
        until(lambda: (state_of(engineer, good), state_of(engineer, bad)) == ("succeeded", "failed"), what="both ended")
        until(lambda: lines_of(engineer, good) == ["from a real plane"], what="the log arrives")
        logs = [path.read_text() for path in sorted(demo.home.glob("clusters/*/plane/logs/kube-apiserver.log"))]
        assert [tools.tools["kube-apiserver"].version in log for log in logs] == [True] * 3
        pids = list(demo.processes().values())
    assert [pid for pid in pids if alive(pid)] == []
