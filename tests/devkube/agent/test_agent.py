"""The agent against the embedded API server: real HTTP, real processes, killed and stopped as a node would be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from devkube.embedded.process import EmbeddedCluster

pytestmark = pytest.mark.xdist_group("agent")
PODS = "/api/v1/namespaces/default/pods"
NODES = [
    {
        "name": "gpu-1",
        "labels": {"platform/mark": "rtx-4090"},
        "capacity": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"},
    },
    {"name": "cpu-1", "capacity": {"cpu": "8", "memory": "32Gi"}, "taints": [{"key": "a", "effect": "NoSchedule"}]},
]


class Node:
    """A cluster, its agent, and what a client of the cluster does."""

    def __init__(self, folder: Path, cluster: EmbeddedCluster) -> None:
        self.folder, self.cluster = folder, cluster
        (folder / "nodes.json").write_text(json.dumps(NODES))
        self.http = httpx.Client(base_url=cluster.url, headers={"Authorization": f"Bearer {cluster.token}"}, timeout=10)
        self.agent: subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        words = ["--server", self.cluster.url, "--nodes", str(self.folder / "nodes.json"), "--backoff", "0.3"]
        words += ["--data-dir", str(self.folder / "agent"), "--heartbeat", "1"]
        with (self.folder / "agent.log").open("ab") as log:
            self.agent = subprocess.Popen(
                [sys.executable, "-m", "devkube.agent", *words],
                env={**os.environ, "DEVKUBE_TOKEN": self.cluster.token},
                stdout=log,
                stderr=log,
            )

    def run(self, name: str, script: str | None, **spec: Any) -> None:
        """Create a pod with one container `main` that runs a shell script."""
        command = {"command": ["sh", "-c", script]} if script else {}
        container = {"name": "main", "image": spec.pop("image", "busybox"), **command, **spec.pop("main", {})}
        pod = {
            "metadata": {"name": name},
            "spec": {"terminationGracePeriodSeconds": 3, "containers": [container], **spec},
        }
        answer = self.http.post(PODS, json={"apiVersion": "v1", "kind": "Pod", **pod})
        assert answer.status_code == 201, answer.text

    def pod(self, name: str) -> dict[str, Any]:
        answer = self.http.get(f"{PODS}/{name}")
        return answer.json() if answer.status_code == 200 else {}

    def until(self, name: str, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The pod once `wanted` holds for it."""
        give_up = time.monotonic() + 20
        while not wanted(found := self.pod(name)):
            assert time.monotonic() < give_up, json.dumps(found.get("status"), indent=1)
            time.sleep(0.05)
        return found

    def log(self, name: str, **query: Any) -> str:
        return self.http.get(f"{PODS}/{name}/log", params=query).text

    def gone(self, name: str) -> None:
        self.http.delete(f"{PODS}/{name}")
        self.until(name, lambda pod: not pod)


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    # Not pytest's folder: containers of root run as another user, to whom that one is closed.
    folder = Path(tempfile.mkdtemp(prefix="agent-"))
    with EmbeddedCluster() as cluster:
        made = Node(folder, cluster)
        yield made
        made.agent.terminate()
        assert made.agent.wait(20) == 0
        made.http.close()
    assert not list(_shims(folder))
    shutil.rmtree(folder)


def _shims(folder: Path) -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = entry.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "devkube.agent.shim" in text and str(folder) in text:
            yield text


def phase(word: str) -> Callable[[dict[str, Any]], bool]:
    return lambda pod: bool((pod.get("status") or {}).get("phase") == word)


def main_of(pod: dict[str, Any]) -> dict[str, Any]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or [{"state": {}, "restartCount": 0}]
    return statuses[0]  # type: ignore[no-any-return] # JSON carries no types


def waits(reason: str) -> Callable[[dict[str, Any]], bool]:
    return lambda pod: bool((main_of(pod)["state"].get("waiting") or {}).get("reason") == reason)


def running(restarts: int = 0) -> Callable[[dict[str, Any]], bool]:
    return lambda pod: "running" in main_of(pod)["state"] and bool(main_of(pod)["restartCount"] == restarts)


def test_nodes_are_registered_ready_leased_and_keep_labels_of_others(node: Node) -> None:
    node.run("first", "exit 0", restartPolicy="Never")
    node.until("first", phase("Succeeded"))
    found = node.http.get("/api/v1/nodes/gpu-1").json()
    lease = node.http.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/gpu-1").json()
    assert found["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert found["metadata"]["labels"]["platform/mark"] == "rtx-4090"
    assert {each["type"]: each["status"] for each in found["status"]["conditions"]}["Ready"] == "True"
    assert lease["spec"]["holderIdentity"] == "gpu-1"
    node.gone("first")


def test_init_containers_run_first_and_the_exit_code_is_real(node: Node) -> None:
    init = {"name": "prepare", "image": "busybox", "command": ["sh", "-c", "echo prepared"]}
    node.run("job", "echo out; echo err >&2; exit 7", restartPolicy="Never", initContainers=[init])
    pod = node.until("job", phase("Failed"))
    ended = main_of(pod)["state"]["terminated"]
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    assert (ended["exitCode"], ended["reason"], main_of(pod)["restartCount"]) == (7, "Error", 0)
    assert conditions["Initialized"] == "True"
    assert conditions["Ready"] == conditions["ContainersReady"] == "False"
    assert (node.log("job", container="prepare"), sorted(node.log("job", container="main").split())) == (
        "prepared\n",
        ["err", "out"],
    )
    node.gone("job")


def test_a_crashing_container_backs_off_and_shows_its_last_end(node: Node) -> None:
    node.run("crash", "echo try; exit 3")
    pod = node.until("crash", lambda pod: main_of(pod)["restartCount"] >= 1 and waits("CrashLoopBackOff")(pod))
    assert main_of(pod)["lastState"]["terminated"]["exitCode"] == 3
    assert main_of(pod)["state"]["waiting"]["message"].startswith("back-off ")
    assert node.log("crash", previous="true") == "try\n"
    node.gone("crash")


def test_an_image_that_does_not_exist_is_told_and_can_be_deleted(node: Node) -> None:
    node.run("pull", "true", image="registry/does-not-exist:1")
    node.until("pull", waits("ErrImagePull"))
    node.until("pull", waits("ImagePullBackOff"))
    node.gone("pull")


def test_an_image_without_a_command_is_stood_in_for(node: Node) -> None:
    node.run("idle", None, image="registry/server:1")
    node.until("idle", running())
    assert "no command here" in node.log("idle", follow="false")
    node.gone("idle")


def test_a_deadline_fails_the_pod(node: Node) -> None:
    node.run("late", "sleep 60", restartPolicy="Never", activeDeadlineSeconds=1)
    pod = node.until("late", phase("Failed"))
    assert pod["status"]["reason"] == "DeadlineExceeded"
    node.gone("late")


def test_deleting_waits_for_the_pre_stop_hook_and_the_grace(node: Node) -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "echo hooked > seen"]}}}
    node.run("polite", "trap 'cat seen; exit 0' TERM; echo up; while :; do sleep 0.1; done", main={"lifecycle": hook})
    uid = node.until("polite", running())["metadata"]["uid"]
    while "up" not in node.log("polite"):
        time.sleep(0.05)
    node.gone("polite")
    log = node.folder / "agent" / "pods" / f"default_polite_{uid}" / "main" / "0.log"
    assert [line.split(" ", 3)[3] for line in log.read_text().splitlines()] == ["up", "hooked"]


def test_a_log_is_followed_to_its_end(node: Node) -> None:
    node.run("talk", "for i in 1 2 3 4 5; do echo line $i; sleep 0.1; done", restartPolicy="Never")
    node.until("talk", lambda pod: not waits("ContainerCreating")(pod) and main_of(pod)["state"])
    with node.http.stream("GET", f"{PODS}/talk/log", params={"follow": "true"}) as answer:
        lines = list(answer.iter_lines())
    assert lines == [f"line {i}" for i in range(1, 6)]
    assert node.log("talk", tailLines=2) == "line 4\nline 5\n"
    node.gone("talk")


def test_exec_joins_streams_and_tells_the_exit_code(node: Node) -> None:
    node.run("shell", "sleep 60", main={"env": [{"name": "COLOUR", "value": "blue"}]})
    node.until("shell", running())
    query = "command=sh&command=-c&command=read+x;echo+$x+$COLOUR;exit+4&stdin=1&stdout=1&stderr=1"
    url = f"{node.cluster.url.replace('http', 'ws', 1)}{PODS}/shell/exec?{query}"
    headers = {"Authorization": f"Bearer {node.cluster.token}"}
    with connect(
        url, subprotocols=[Subprotocol("v5.channel.k8s.io")], additional_headers=headers, proxy=None
    ) as socket:
        socket.send(b"\x00hello\n")
        messages = [each for each in socket if isinstance(each, bytes)]
    output = b"".join(each[1:] for each in messages if each[0] == 1)
    final = json.loads(next(each[1:] for each in messages if each[0] == 3))
    assert (output, final["details"]["causes"]) == (b"hello blue\n", [{"reason": "ExitCode", "message": "4"}])
    node.gone("shell")


def test_neither_web_pages_nor_other_processes_reach_the_nodes_own_endpoints(node: Node) -> None:
    port = node.http.get("/api/v1/nodes/gpu-1").json()["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    token = {"Authorization": f"Bearer {node.cluster.token}"}
    url = f"http://127.0.0.1:{port}/containerLogs/default/p/main"
    with httpx.Client(trust_env=False) as client:
        asked = [token, {}, token | {"Origin": "http://evil.example"}, token | {"Host": f"evil.example:{port}"}]
        assert [client.get(url, headers=each).status_code for each in asked] == [404, 401, 401, 401]


def test_after_kill_9_the_agent_adopts_what_runs_and_doubles_nothing(node: Node) -> None:
    node.run("steady", "echo started; while [ ! -e stop ]; do sleep 0.05; done; exit 9", restartPolicy="Never")
    pod = node.until("steady", running())
    node.agent.kill()
    node.agent.wait()
    node.start()
    work = node.folder / "agent" / "run" / pod["metadata"]["uid"] / "main" / "0" / "work"
    time.sleep(0.5)
    (work / "stop").touch()
    pod = node.until("steady", phase("Failed"))
    assert (main_of(pod)["state"]["terminated"]["exitCode"], main_of(pod)["restartCount"]) == (9, 0)
    assert node.log("steady") == "started\n"
    node.gone("steady")


def test_after_a_clean_stop_no_process_is_left_and_the_pod_runs_again(node: Node) -> None:
    node.run("server", "echo up; sleep 600", restartPolicy="Never")
    node.until("server", running())
    node.agent.send_signal(signal.SIGTERM)
    assert node.agent.wait(20) == 0
    assert list(_shims(node.folder)) == []
    node.start()
    pod = node.until("server", running(restarts=1))
    assert main_of(pod)["lastState"]["terminated"]["exitCode"] == 143
    node.gone("server")


def test_a_pod_that_was_removed_while_the_agent_was_away_is_ended(node: Node) -> None:
    node.run("orphan", "sleep 600")
    node.until("orphan", running())
    node.agent.kill()
    node.agent.wait()
    node.http.request("DELETE", f"{PODS}/orphan", json={"gracePeriodSeconds": 0})
    node.start()
    give_up = time.monotonic() + 15
    while list(_shims(node.folder)) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert list(_shims(node.folder)) == []
