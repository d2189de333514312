"""The demo's node agent under a real control plane: it knows only the Kubernetes API, so it must serve here too."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from devkube.real.control_plane import ControlPlane
from tests.support.kubernetes import Obj, a_namespace, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]
NODES = [{"name": "agent-1", "capacity": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"}}]


@pytest.fixture(scope="module")
def agent(plane: ControlPlane, http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An agent that plays one node."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "nodes.json").write_text(json.dumps(NODES))
    words = ["--server", plane.url, "--ca", str(plane.ca), "--nodes", str(folder / "nodes.json"), "--heartbeat", "1"]
    words += ["--data-dir", str(folder / "data"), "--tls", str(plane.secrets.server.key.with_suffix(""))]
    environment = {**os.environ, "DEVKUBE_TOKEN": plane.token}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "devkube.agent", *words], env=environment, stdout=log, stderr=log
        )
    try:
        until(lambda: "agent-1" in ready(http))
        yield
    finally:
        process.terminate()
        process.wait(20)
        http.delete("/api/v1/nodes/agent-1")


def ready(http: httpx.Client) -> list[str]:
    return [
        node["metadata"]["name"]
        for node in http.get("/api/v1/nodes").json()["items"]
        if any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    ]


def a_pod(http: httpx.Client, space: str, script: str) -> str:
    """Run a script on the agent's node and return the pod's path."""
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", script]}
    spec: Obj = {
        "restartPolicy": "Never",
        "containers": [container],
        "nodeSelector": {"kubernetes.io/hostname": "agent-1"},
    }
    spec |= {"terminationGracePeriodSeconds": 2}
    body = {"metadata": {"name": "work"}, "spec": spec}
    http.post(f"/api/v1/namespaces/{space}/pods", json=body).raise_for_status()
    return f"/api/v1/namespaces/{space}/pods/work"


def phase(http: httpx.Client, pod: str, *wanted: str) -> Obj:
    return dict(until(lambda: next((p for p in [http.get(pod).json()] if p["status"]["phase"] in wanted), None)) or {})


@pytest.mark.usefixtures("agent")
def test_a_pod_runs_and_its_log_is_read_through_the_real_apiserver(http: httpx.Client) -> None:
    pod = a_pod(http, a_namespace(http, "agent-log"), "echo one; echo two >&2; exit 3")
    over = phase(http, pod, "Succeeded", "Failed")
    state: dict[str, Any] = over["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (over["status"]["phase"], state["exitCode"], state["reason"]) == ("Failed", 3, "Error")
    assert sorted(http.get(f"{pod}/log").text.splitlines()) == ["one", "two"]


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("protocol", ["v4.channel.k8s.io", "v5.channel.k8s.io"])
def test_a_command_runs_inside_through_the_real_apiserver(
    plane: ControlPlane, http: httpx.Client, protocol: str
) -> None:
    pod = a_pod(http, a_namespace(http, f"agent-{protocol[:2]}"), "sleep 600")
    phase(http, pod, "Running")
    told = http.get("/api/v1/nodes/agent-1").json()["status"]
    if protocol.startswith("v5") and "declaredFeatures" not in told:
        pytest.skip("this API server knows no node that speaks WebSocket and would speak SPDY to it")
    url = f"{plane.url.replace('https', 'wss')}{pod}/exec?command=echo&command=inside&stdout=true&stderr=true"
    trust = ssl.create_default_context(cafile=str(plane.ca))
    headers = {"Authorization": f"Bearer {plane.token}"}
    with connect(url, additional_headers=headers, subprotocols=[Subprotocol(protocol)], ssl=trust) as socket:
        messages = [message for message in socket if isinstance(message, bytes)]
    assert b"\x01inside\n" in messages
    assert json.loads(messages[-1][1:])["status"] == "Success"


@pytest.mark.usefixtures("agent")
def test_a_deleted_pod_is_gone_once_its_command_has_ended(http: httpx.Client) -> None:
    pod = a_pod(http, a_namespace(http, "agent-gone"), "trap 'exit 0' TERM; while :; do sleep 0.1; done")
    phase(http, pod, "Running")
    http.delete(pod).raise_for_status()
    until(lambda: http.get(pod).status_code == 404)
