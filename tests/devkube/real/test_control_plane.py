"""Real control planes: several at once, nothing left behind, faults on demand."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import rmtree

import httpx
import pytest
from kubernetes import client, config

from devkube.children import alive
from devkube.real.control_plane import PROGRAMS, ControlPlane, together
from devkube.real.credentials import User
from devkube.real.daemon import StartError
from devkube.real.tools import Toolbox
from tests.support.kubernetes import a_namespace, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]


def _pids(plane: ControlPlane) -> list[int]:
    return [part.process.pid for part in plane.parts.values() if part.process is not None]


def test_two_planes_run_side_by_side_and_leave_nothing_behind(tools: Toolbox) -> None:
    one, two = ControlPlane("one", toolbox=tools), ControlPlane("two", toolbox=tools)
    with together(one, two):
        pids = [*_pids(one), *_pids(two)]
        assert len(pids) == 2 * len(PROGRAMS)
        for plane in (one, two):
            with plane.client() as http:
                a_namespace(http, f"only-{plane.name}")
                names = {item["metadata"]["name"] for item in http.get("/api/v1/namespaces").json()["items"]}
                assert names - {"kube-system", "kube-public", "kube-node-lease"} == {"default", f"only-{plane.name}"}
    assert [pid for pid in pids if alive(pid)] == []
    assert (one.folder.exists(), two.folder.exists()) == (False, False)


def test_says_the_version_that_it_was_built_from(plane: ControlPlane, http: httpx.Client) -> None:
    told = http.get("/version").json()
    assert told["gitVersion"] == plane.toolbox.tools["kube-apiserver"].version
    assert f"{told['major']}.{told['minor']}" == plane.toolbox.kube


def test_its_kubeconfig_opens_it_to_the_official_client(plane: ControlPlane, tmp_path: Path) -> None:
    path = plane.write_kubeconfig(tmp_path / "config")
    assert path.stat().st_mode & 0o077 == 0
    api = config.new_client_from_config(str(path))  # type: ignore[no-untyped-call] # untyped there
    names = {each.metadata and each.metadata.name for each in client.CoreV1Api(api).list_namespace().items}
    api.close()
    assert {"default", "kube-system"} <= names


def test_a_user_without_a_role_may_nothing_and_an_unknown_token_is_nobody(tools: Toolbox) -> None:
    with ControlPlane("rights", users=[User("anna", ("devs",))], toolbox=tools) as plane:
        with plane.client("anna") as http:
            assert http.get("/api/v1/pods").json()["message"] == (
                'pods is forbidden: User "anna" cannot list resource "pods" in API group "" at the cluster scope'
            )
        before = plane.token_of("anna")
        plane.set_user(User("anna", ("system:masters",)))
        plane.restart_apiserver()
        with plane.client("anna") as http:
            assert http.get("/api/v1/pods").status_code == 200
            assert http.get("/api/v1/pods", headers={"Authorization": f"Bearer {before}"}).status_code == 401


def test_an_old_version_is_gone_once_history_is_forgotten(plane: ControlPlane, http: httpx.Client) -> None:
    old = http.get("/api/v1/configmaps").json()["metadata"]["resourceVersion"]
    a_namespace(http, "history")
    page = http.get("/api/v1/namespaces", params={"limit": 1}).json()["metadata"]["continue"]
    plane.forget_history()
    watch = {"watch": "1", "resourceVersion": old, "timeoutSeconds": "5"}
    assert '"code":410' in http.get("/api/v1/configmaps", params=watch).text
    assert http.get("/api/v1/namespaces", params={"limit": 1, "continue": page}).status_code == 410


def test_what_was_acknowledged_outlives_a_killed_apiserver(plane: ControlPlane, http: httpx.Client) -> None:
    a_namespace(http, "outlives")
    plane.kill_apiserver()
    with pytest.raises(httpx.ConnectError):
        http.get("/version")
    plane.start_apiserver()
    assert until(lambda: http.get("/api/v1/namespaces/outlives").status_code) == 200


def test_a_hung_apiserver_takes_the_call_and_says_nothing(plane: ControlPlane, http: httpx.Client) -> None:
    # Of a new connection not even the handshake is answered.
    with plane.hung_apiserver(), pytest.raises((httpx.ReadTimeout, httpx.ConnectTimeout)):
        http.get("/version", timeout=0.3)
    assert http.get("/version").status_code == 200


def test_a_part_that_does_not_start_names_its_log_and_shows_its_end(tools: Toolbox) -> None:
    plane = ControlPlane("broken", extra={"kube-scheduler": ["--no-such-flag"]}, toolbox=tools)
    with pytest.raises(
        StartError, match=r"(?s)kube-scheduler ended with code 1; its log is .*unknown flag: --no-such-flag"
    ):
        plane.start()
    assert (plane.logs / "kube-scheduler.log").exists()
    assert {part.alive for part in plane.parts.values()} == {False}
    rmtree(plane.folder)


def test_keeps_its_objects_in_a_folder_that_is_given(tools: Toolbox, tmp_path: Path) -> None:
    with ControlPlane("kept", tmp_path, token="secret", durable=True, toolbox=tools) as plane, plane.client() as http:
        a_namespace(http, "kept")
    with ControlPlane("kept", tmp_path, token="secret", durable=True, toolbox=tools) as plane, plane.client() as http:
        assert http.get("/api/v1/namespaces/kept").status_code == 200


def test_ends_with_its_owner(tools: Toolbox) -> None:
    """A plane whose owner was killed does not live on."""
    words = (
        "import os\n"
        "from devkube.real.control_plane import ControlPlane\n"
        "plane = ControlPlane('orphan').start()\n"
        "print(plane.folder, *(part.process.pid for part in plane.parts.values()), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    folder, *pids = done.stdout.split()
    assert len(pids) == len(PROGRAMS)
    until(lambda: not any(alive(int(pid)) for pid in pids), 20)
    rmtree(folder)


def test_is_up_in_seconds(tools: Toolbox) -> None:
    began, busy = time.monotonic(), os.getloadavg()[0] / (os.cpu_count() or 1)
    with ControlPlane("quick", toolbox=tools):
        assert time.monotonic() - began < 10 * max(1.0, busy)
