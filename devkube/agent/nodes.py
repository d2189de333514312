"""The nodes of a file: registering them, their status, their leases.

The file holds a list of `{"name", "labels", "taints", "capacity": {"cpu", "memory", "nvidia.com/gpu", …},
"allocatable"}`; all but name and capacity may be left out.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path

from devkube.agent.api import AWAY, MERGE, STRATEGIC, Api, ApiError, Obj
from devkube.agent.clock import micro_stamp, now, stamp

log = logging.getLogger("devkube.agent")
LEASE_SECONDS = 40
VERSION = "v1.37.2"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node as the file describes it; quantities are Kubernetes strings."""

    name: str
    capacity: dict[str, str]
    allocatable: dict[str, str]
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Obj, ...] = ()

    def manifest(self) -> Obj:
        """The Node object without status."""
        spec = {"taints": list(self.taints)} if self.taints else {}
        labels = self.all_labels()
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name, "labels": labels}, "spec": spec}

    def all_labels(self) -> dict[str, str]:
        """The file's labels over those that every kubelet sets."""
        arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        own = {"kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": arch}
        return own | self.labels

    def status(self, port: int, at: float) -> Obj:
        """The status of a healthy node whose kubelet endpoint listens on `port`."""
        pressures = [("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")]
        pressures += [("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")]
        pressures += [("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available")]
        conditions = [_condition(kind, "False", reason, text, at) for kind, reason, text in pressures]
        conditions.append(_condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", at))
        info = {"kubeletVersion": VERSION, "kubeProxyVersion": "", "operatingSystem": "linux"}
        info |= {"architecture": self.all_labels()["kubernetes.io/arch"], "osImage": "devkube"}
        info |= {"kernelVersion": os.uname().release, "containerRuntimeVersion": "devkube://1"}
        info |= {"machineID": self.name, "systemUUID": self.name, "bootID": self.name}
        return {
            "capacity": self.capacity,
            "allocatable": self.allocatable,
            "conditions": conditions,
            "addresses": [
                {"type": "InternalIP", "address": "127.0.0.1"},
                {"type": "Hostname", "address": self.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            # Or the real API server would speak SPDY to us for an exec.
            "declaredFeatures": ["ExtendWebSocketsToKubelet"],
            "nodeInfo": info,
        }


def _condition(kind: str, word: str, reason: str, message: str, at: float) -> Obj:
    times = {"lastHeartbeatTime": stamp(at), "lastTransitionTime": stamp(at)}
    return {"type": kind, "status": word, "reason": reason, "message": message, **times}


def read_nodes(path: Path) -> tuple[NodePlan, ...]:
    """The nodes of a file; raises ValueError naming what is wrong."""
    plans = []
    for entry in json.loads(path.read_text()):
        unknown = set(entry) - {"name", "labels", "taints", "capacity", "allocatable"}
        if unknown or not entry.get("name") or not entry.get("capacity"):
            raise ValueError(f"{path}: a node needs name and capacity, and knows no {sorted(unknown)}")
        capacity = {"pods": "110", "ephemeral-storage": "100Gi", **entry["capacity"]}
        allocatable = {**capacity, **entry.get("allocatable", {})}
        plans.append(
            NodePlan(entry["name"], capacity, allocatable, entry.get("labels", {}), tuple(entry.get("taints", ())))
        )
    return tuple(plans)


class NodeKeeper:
    """Keeps one node registered, ready and leased; `heartbeat` seconds between two renewals (kubelet: 10)."""

    def __init__(self, plan: NodePlan, api: Api, *, port: int, heartbeat: float) -> None:
        """Nothing is sent before `run`."""
        self.plan, self._api, self._port, self._heartbeat = plan, api, port, heartbeat
        self._path = f"/api/v1/nodes/{plan.name}"

    async def run(self) -> None:
        """Register, then renew for ever; registers again when the node was deleted."""
        registered = False
        while True:
            try:
                if not registered:
                    await self._register()
                    registered = True
                await self._renew()
            except ApiError as error:
                log.info("node %s: %s", self.plan.name, error)
                registered = registered and error.code != 404
            except AWAY as error:
                log.info("node %s: %s", self.plan.name, error)
                registered = False  # a server that was away may have come back empty
            await asyncio.sleep(self._heartbeat if registered else min(1.0, self._heartbeat))

    async def _register(self) -> None:
        try:
            await self._api.call("POST", "/api/v1/nodes", body=self.plan.manifest())
        except ApiError as error:
            if error.code != 409:
                raise
            # Labels that others put on the node stay: the platform marks its pools with one.
            await self._api.call("PATCH", self._path, body={"metadata": {"labels": self.plan.all_labels()}}, kind=MERGE)
        body = {"status": self.plan.status(self._port, now())}
        await self._api.call("PATCH", f"{self._path}/status", body=body, kind=STRATEGIC)

    async def _renew(self) -> None:
        node = await self._api.call("GET", self._path)
        ready = {each["type"]: each["status"] for each in (node.get("status") or {}).get("conditions") or []}
        if ready.get("Ready") != "True":
            body = {"status": self.plan.status(self._port, now())}
            await self._api.call("PATCH", f"{self._path}/status", body=body, kind=STRATEGIC)
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {
            "holderIdentity": self.plan.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro_stamp(now()),
        }
        try:
            await self._api.call("PATCH", f"{leases}/{self.plan.name}", body={"spec": spec}, kind=MERGE)
        except ApiError as error:
            if error.code != 404:
                raise
            owner = {"apiVersion": "v1", "kind": "Node", "name": self.plan.name, "uid": node["metadata"]["uid"]}
            meta = {"name": self.plan.name, "namespace": "kube-node-lease", "ownerReferences": [owner]}
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
            await self._api.call("POST", leases, body=lease)
