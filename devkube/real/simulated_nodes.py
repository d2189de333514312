"""Simulated nodes by kwok: the scheduler and the controllers are real, the pods only say that they run.

    with ControlPlane() as plane, SimulatedNodes(plane) as nodes:
        nodes.add("a100-1", cards=8, mark="a100-80g")

What a pod does is said by the pod itself: devkube.real.stages. Several may serve one plane, each its own nodes; when
one is killed its nodes fall silent, as if their machines had lost power.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from devkube.real.control_plane import ControlPlane
from devkube.real.daemon import Daemon, StartError, free_ports, stop_all
from devkube.real.stages import stages

KWOK = "kwok"
MANAGED = "kwok.x-k8s.io/node"
READY_SECONDS = 30.0
STOP_SECONDS = 3.0
LEASE_SECONDS = 40
Obj = dict[str, Any]


class SimulatedNodes:
    """Nodes on a plane; `add` them. Raises ToolsMissingError and StartError."""

    def __init__(self, plane: ControlPlane, name: str = "simulated", *, lease_seconds: int = LEASE_SECONDS) -> None:
        """`name` tells several on one plane apart. A node whose lease ran out is lost after the manager's grace."""
        plane.toolbox.require([KWOK])
        self.plane, self.name = plane, name
        self._lease_seconds = lease_seconds
        self._http = plane.client()
        self._probe = httpx.Client(timeout=2.0, trust_env=False)
        self.part = self._daemon()

    def start(self) -> Self:
        """Start kwok and wait until it serves; nodes added before come to life again. Raises StartError."""
        self.part.start()
        try:
            self.part.wait_ready(time.monotonic() + READY_SECONDS)
        except StartError:
            self.stop()
            raise
        return self

    def kill(self) -> None:
        """All nodes fall silent; `start` brings them back."""
        self.part.kill()

    def stop(self) -> None:
        """End kwok; the Node objects stay."""
        for line in stop_all([self.part], STOP_SECONDS):
            print(f"! {self.plane.name}: {line}")
        for client in (self._http, self._probe):
            client.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def add(
        self,
        name: str,
        *,
        cpu: int = 64,
        memory_gib: int = 1000,
        cards: int = 0,
        mark: str = "",
        pool: str = "public",
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Obj] = (),
        wait: bool = True,
    ) -> Obj:
        """Make a node of so many cores, GiB and cards of a mark in a pool, and wait until it is Ready."""
        marks = {"platform/pool": pool} | ({"platform/mark": mark} if mark else {})
        capacity = {"cpu": str(cpu), "memory": f"{memory_gib}Gi"} | ({"nvidia.com/gpu": str(cards)} if cards else {})
        plan = {"name": name, "labels": marks | dict(labels or {}), "capacity": capacity, "taints": list(taints)}
        self.add_all([plan], wait=wait)
        return dict(self._http.get(f"/api/v1/nodes/{name}").raise_for_status().json())

    def add_all(self, plans: Iterable[Mapping[str, Any]], *, wait: bool = True) -> None:
        """Make the nodes of a plan as the node agent reads it (devkube.agent.nodes), and wait until all are Ready."""
        names = set()
        for plan in plans:
            self._http.post("/api/v1/nodes", json=self._node(plan)).raise_for_status()
            names.add(str(plan["name"]))
        deadline = time.monotonic() + READY_SECONDS + len(names) / 20
        while wait and not names <= self.ready():
            if time.monotonic() > deadline:
                raise StartError(f"not Ready: {sorted(names - self.ready())}; kwok's log is {self.part.log}")
            time.sleep(0.05)

    def ready(self) -> set[str]:
        """The names of all nodes of the plane that are Ready."""
        items = self._http.get("/api/v1/nodes", params={"resourceVersion": "0"}).raise_for_status().json()["items"]
        return {node["metadata"]["name"] for node in items if _is_ready(node)}

    def remove(self, name: str) -> None:
        """Delete a node, as whoever takes a machine out of a cluster does."""
        self._http.delete(f"/api/v1/nodes/{name}").raise_for_status()

    def _node(self, plan: Mapping[str, Any]) -> Obj:
        name = str(plan["name"])
        own = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        room = {"pods": "110", "ephemeral-storage": "1000Gi"} | dict(plan["capacity"])
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": own | dict(plan.get("labels") or {}),
                "annotations": {MANAGED: self.name},
            },
            "spec": {"taints": list(plan["taints"])} if plan.get("taints") else {},
            "status": {"capacity": room, "allocatable": room | dict(plan.get("allocatable") or {})},
        }

    def _daemon(self) -> Daemon:
        folder = self.plane.folder / f"kwok-{self.name}"
        folder.mkdir(exist_ok=True)
        config: Path = folder / "stages.yaml"
        config.write_text(yaml.safe_dump_all(stages()))
        (port,) = free_ports(1)
        words = [
            str(self.plane.toolbox.path(KWOK)),
            f"--kubeconfig={self.plane.kubeconfig}",
            f"--config={config}",
            f"--manage-nodes-with-annotation-selector={MANAGED}={self.name}",
            f"--node-lease-duration-seconds={self._lease_seconds}",
            f"--server-address=127.0.0.1:{port}",
            "--cidr=10.64.0.1/10",
        ]
        log = self.plane.logs / f"kwok-{self.name}.log"
        return Daemon(KWOK, words, log, partial(self._answers, f"http://127.0.0.1:{port}/readyz"))

    def _answers(self, url: str) -> bool:
        try:
            return self._probe.get(url).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def _is_ready(node: Obj) -> bool:
    conditions = node.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
