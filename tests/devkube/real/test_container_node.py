"""A node with real containers under the real control plane: logs, exec, limits, and nothing left when it ends."""

from __future__ import annotations

import itertools
import json
import re
import ssl
import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from devkube.children import alive
from devkube.real.container_node import ContainerNode
from devkube.real.control_plane import ControlPlane
from devkube.real.images import Image
from tests.support.kubernetes import Obj, a_namespace, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]
_numbers = itertools.count(1)
IMAGE = "busybox:1.35"


@pytest.fixture
def space(http: httpx.Client, container_node: ContainerNode) -> str:
    """A namespace of the test's own."""
    return a_namespace(http, f"container-{next(_numbers)}")


def a_pod(http: httpx.Client, space: str, script: str, **main: Any) -> str:
    """Run a script in a container and return the pod's path."""
    container = {"name": "main", "image": IMAGE, "command": ["sh", "-c", script]} | main
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    spec |= {"nodeSelector": {"platform/mark": "container"}}
    http.post(f"/api/v1/namespaces/{space}/pods", json={"metadata": {"name": "work"}, "spec": spec}).raise_for_status()
    return f"/api/v1/namespaces/{space}/pods/work"


def state(http: httpx.Client, pod: str, kind: str) -> Obj:
    """The state `running`, `waiting` or `terminated` of the container, once it is in it."""

    def found() -> Any:
        statuses = http.get(pod).json()["status"].get("containerStatuses", [])
        return next((each["state"][kind] for each in statuses if kind in each["state"]), None)

    return dict(until(found))


def test_a_job_writes_its_log_as_cri_lines_and_it_is_read_through_the_apiserver(
    http: httpx.Client, space: str, container_node: ContainerNode
) -> None:
    container = {"name": "main", "image": IMAGE, "command": ["sh", "-c", "echo one; echo two >&2"]}
    spec = {"restartPolicy": "Never", "containers": [container], "nodeSelector": {"platform/mark": "container"}}
    body = {"metadata": {"name": "work"}, "spec": {"template": {"spec": spec}}}
    http.post(f"/apis/batch/v1/namespaces/{space}/jobs", json=body).raise_for_status()
    until(lambda: http.get(f"/apis/batch/v1/namespaces/{space}/jobs/work").json()["status"].get("succeeded"))
    (pod,) = http.get(f"/api/v1/namespaces/{space}/pods").json()["items"]
    meta = pod["metadata"]
    assert sorted(http.get(f"/api/v1/namespaces/{space}/pods/{meta['name']}/log").text.split()) == ["one", "two"]
    file = container_node.pod_logs / f"{space}_{meta['name']}_{meta['uid']}" / "main" / "0.log"
    lines = sorted(line.split(" ", 1)[1] for line in file.read_text().splitlines())
    assert lines == ["stderr F two", "stdout F one"]
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+ ", file.read_text())


def test_the_exit_code_is_the_commands_own(http: httpx.Client, space: str) -> None:
    over = state(http, a_pod(http, space, "exit 7"), "terminated")
    assert (over["exitCode"], over["reason"]) == (7, "Error")


def test_a_container_over_its_memory_is_killed_and_says_so(http: httpx.Client, space: str) -> None:
    hungry = "dd if=/dev/zero of=/dev/shm/x bs=1M count=60; tail /dev/zero"
    over = state(http, a_pod(http, space, hungry, resources={"limits": {"memory": "32Mi"}}), "terminated")
    assert (over["exitCode"], over["reason"]) == (137, "OOMKilled")


def test_an_image_that_is_not_there_is_told(http: httpx.Client, space: str) -> None:
    pod = a_pod(http, space, "true", image="nowhere.invalid/no:1", imagePullPolicy="Never")
    until(lambda: state(http, pod, "waiting")["reason"] == "ErrImageNeverPull")


def test_a_command_runs_inside_the_container(plane: ControlPlane, http: httpx.Client, space: str) -> None:
    pod = a_pod(http, space, "echo secret > /tmp/inside; sleep 600")
    state(http, pod, "running")
    url = f"{plane.url.replace('https', 'wss')}{pod}/exec?command=cat&command=/tmp/inside&stdout=true&stderr=true"
    trust = ssl.create_default_context(cafile=str(plane.ca))
    headers = {"Authorization": f"Bearer {plane.token}"}
    protocol = Subprotocol("v5.channel.k8s.io")
    with connect(url, additional_headers=headers, subprotocols=[protocol], ssl=trust) as socket:
        messages = [message for message in socket if isinstance(message, bytes)]
    assert b"\x01secret\n" in messages
    assert [json.loads(each[1:])["status"] for each in messages if each[:1] == b"\x03"] == ["Success"]


def test_cards_are_counted_by_the_scheduler(http: httpx.Client, space: str) -> None:
    pod = a_pod(http, space, "sleep 600", resources={"limits": {"nvidia.com/gpu": "5"}})
    conditions = until(lambda: [c for c in http.get(pod).json()["status"].get("conditions", []) if "message" in c])
    assert "Insufficient nvidia.com/gpu" in conditions[0]["message"]


def test_a_container_is_told_its_cards_and_a_broken_one_is_no_longer_offered(
    http: httpx.Client, space: str, container_node: ContainerNode
) -> None:
    def allocatable() -> str:
        return str(http.get(f"/api/v1/nodes/{container_node.name}").json()["status"]["allocatable"]["nvidia.com/gpu"])

    container_node.break_cards("card-0", "card-2")
    until(lambda: allocatable() == "2")
    pod = a_pod(http, space, "echo $NVIDIA_VISIBLE_DEVICES", resources={"limits": {"nvidia.com/gpu": "2"}})
    assert state(http, pod, "terminated")["exitCode"] == 0
    assert sorted(http.get(f"{pod}/log").text.strip().split(",")) == ["card-1", "card-3"]
    container_node.break_cards()
    until(lambda: allocatable() == "4")


def test_a_container_outlives_its_kubelet_and_the_cards_are_told_anew(
    http: httpx.Client, space: str, container_node: ContainerNode
) -> None:
    pod = a_pod(http, space, "sleep 600", resources={"limits": {"nvidia.com/gpu": "1"}})
    before = state(http, pod, "running")
    container_node.restart_kubelet()
    until(
        lambda: (
            http.get(f"/api/v1/nodes/{container_node.name}").json()["status"]["allocatable"]["nvidia.com/gpu"] == "4"
        )
    )
    assert state(http, pod, "running") == before
    http.delete(pod)
    until(lambda: http.get(pod).status_code == 404)


def test_a_second_node_with_an_image_of_its_own_leaves_nothing_behind(plane: ControlPlane, http: httpx.Client) -> None:
    image = Image("devkube.local/tool:1", ("/bin/tool",), {"/bin/tool": b"#!/bin/sh\necho from the image; sleep 600\n"})
    space = a_namespace(http, "second-node")
    with ContainerNode(plane, "container-2", labels={"platform/mark": "second"}, images=[image]) as node:
        spec: Obj = {"containers": [{"name": "main", "image": "devkube.local/tool:1"}]}
        spec |= {"nodeSelector": {"platform/mark": "second"}}
        pod = f"/api/v1/namespaces/{space}/pods/tool"
        http.post(pod.rpartition("/")[0], json={"metadata": {"name": "tool"}, "spec": spec}).raise_for_status()
        state(http, pod, "running")
        until(lambda: http.get(f"{pod}/log").text == "from the image\n")
        ids = [line.split()[0] for line in node.ctr("tasks", "ls").splitlines()[1:]]
        assert len(ids) == 2  # the container and its sandbox
    assert str(node.folder) not in Path("/proc/self/mounts").read_text()
    assert [path for each in ids for path in Path("/sys/fs/cgroup").glob(f"**/{each}")] == []
    commands = [_command(path) for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert [command for command in commands if str(node.folder) in command or any(id_ in command for id_ in ids)] == []
    http.delete("/api/v1/nodes/container-2")


def _command(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def test_containers_end_with_the_killed_owner_of_the_node(container_node: ContainerNode) -> None:
    words = (
        "import os\n"
        "from devkube.real.control_plane import ControlPlane\n"
        "from devkube.real.container_node import ContainerNode\n"
        "plane = ControlPlane('orphan').start()\n"
        "node = ContainerNode(plane, 'orphan').start()\n"
        "print(plane.folder, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    folder = done.stdout.strip()
    assert folder, done.stderr

    def left() -> list[str]:
        found = [(path, _command(path)) for path in Path("/proc").glob("[0-9]*/cmdline")]
        return [command for path, command in found if folder in command and alive(int(path.parent.name))]

    until(lambda: not left(), 10)
    rmtree(folder)
