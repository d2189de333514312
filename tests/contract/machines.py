"""A machine that really runs pods' commands, for the cases about logs: chosen by the label ``contract/machine``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devkube.real.container_node import ContainerNode, obstacle
from devkube.real.control_plane import ControlPlane

LABEL = {"contract/machine": "yes"}
IMAGE = "busybox:1.35"
PLAN = [{"name": "machine", "labels": LABEL, "capacity": {"cpu": "8", "memory": "8Gi", "pods": "20"}}]


@contextmanager
def played_by_agent(server: str, token: str, *words: str) -> Iterator[None]:
    """The demo's node agent plays the machine; commands run as processes of this one."""
    with tempfile.TemporaryDirectory(prefix="contract-agent-") as folder:
        plan = Path(folder) / "nodes.json"
        plan.write_text(json.dumps(PLAN))
        line = ["--server", server, "--nodes", str(plan), "--data-dir", f"{folder}/data", "--backoff", "0.3", *words]
        agent = subprocess.Popen(
            [sys.executable, "-m", "devkube.agent", *line],
            env={**os.environ, "DEVKUBE_TOKEN": token},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            agent.terminate()
            agent.wait(20)


@contextmanager
def beside(plane: ControlPlane) -> Iterator[None]:
    """kubelet and containerd where they can run (Linux, root), else the agent over TLS."""
    if not obstacle(plane.toolbox):
        with ContainerNode(plane, "machine", labels=LABEL):
            yield
        return
    tls = str(plane.secrets.server.key.with_suffix(""))
    with played_by_agent(plane.url, plane.token, "--ca", str(plane.ca), "--tls", tls):
        yield


def speaking(name: str, space: str, script: str, **spec: Any) -> dict[str, Any]:
    """A pod whose container ``main`` runs the script on the machine."""
    container = {"name": "main", "image": IMAGE, "imagePullPolicy": "Never", "command": ["sh", "-c", script]}
    base = {"nodeSelector": LABEL, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space}, "spec": base | spec}
