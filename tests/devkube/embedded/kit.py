"""What the tests of the embedded cluster build with."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from devkube.embedded.process import EmbeddedCluster

Obj = dict[str, Any]
T = TypeVar("T")
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Kube:
    """Raw calls in one namespace."""

    def __init__(self, http: httpx.Client, space: str) -> None:
        self.http, self.space = http, space

    @staticmethod
    def client(cluster: EmbeddedCluster) -> httpx.Client:
        headers = {"Authorization": f"Bearer {cluster.token}"}
        return httpx.Client(base_url=cluster.url, headers=headers, trust_env=False, timeout=10)

    def path(self, plural: str, name: str = "") -> str:
        roots = {"jobs": "apis/batch/v1", "deployments": "apis/apps/v1", "replicasets": "apis/apps/v1"}
        roots["poddisruptionbudgets"] = "apis/policy/v1"
        return f"/{roots.get(plural, 'api/v1')}/namespaces/{self.space}/{plural}" + (f"/{name}" if name else "")

    def post(self, path: str, body: Obj, **query: str) -> httpx.Response:
        return self.http.post(path, json=body, params=query)

    def make(self, plural: str, body: Obj, **query: str) -> Obj:
        answer = self.post(self.path(plural), body, **query)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def get(self, plural: str, name: str) -> Obj:
        answer = self.http.get(self.path(plural, name))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def gone(self, plural: str, name: str) -> bool:
        return self.http.get(self.path(plural, name)).status_code == 404

    def list(self, plural: str, **query: str) -> list[Obj]:
        return list(self.http.get(self.path(plural), params=query).json()["items"])

    def patch(self, path: str, body: Any, kind: str = "merge", **query: str) -> httpx.Response:
        return self.http.patch(path, content=json.dumps(body), headers={"content-type": PATCHES[kind]}, params=query)

    def remove(self, path: str, body: Obj | None = None) -> httpx.Response:
        return self.http.request("DELETE", path, json=body)

    def reasons(self) -> set[str]:
        return {event["reason"] for event in self.list("events")}


def until(ask: Callable[[], T], seconds: float = 15.0) -> T:
    """Return the first true answer; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return answer


def container(**more: Any) -> Obj:
    return {"name": "main", "image": "busybox:1", **more}


def cards(number: int) -> Obj:
    return {"resources": {"limits": {"nvidia.com/gpu": str(number)}}}


def pod(name: str, *, labels: Obj | None = None, **spec: Any) -> Obj:
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": {"containers": [container()], **spec}}


def job(name: str, *, plays: str = "succeed", **spec: Any) -> Obj:
    body = {"restartPolicy": "Never", "containers": [container()]}
    template = {"metadata": {"annotations": {"plays": plays}}, "spec": body}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def deployment(name: str, replicas: int = 2, *, plays: str = "run", **spec: Any) -> Obj:
    about = {"labels": {"app": name}, "annotations": {"plays": plays}}
    template = {"metadata": about, "spec": {"containers": [container()], "terminationGracePeriodSeconds": 0}}
    body = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def node(name: str, *, gpus: int = 4, cpu: str = "8", labels: Obj | None = None, **spec: Any) -> Obj:
    size = {"cpu": cpu, "memory": "32Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": stamp(), "lastTransitionTime": stamp()}
    state = {"capacity": size, "allocatable": size, "conditions": [ready]}
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": state}


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: TID251 # a played kubelet has a clock


class FakeKubelet:
    """Plays nodes: pods run, succeed or fail as their annotation `plays` says, and go when deleted."""

    def __init__(self, http: httpx.Client, nodes: Sequence[str]) -> None:
        self.http, self.nodes = http, set(nodes)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        for name in self.nodes:
            answer = self.http.post("/api/v1/nodes", json=node(name))
            assert answer.status_code == 201, answer.text
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        version = "0"
        while not self._stop.is_set():
            self._renew()
            query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
            with self.http.stream("GET", "/api/v1/pods", params=query) as stream:
                for line in stream.iter_lines():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        version = "0"
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] in ("ADDED", "MODIFIED"):
                        self._play(event["object"])

    def _renew(self) -> None:
        root = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        for name in self.nodes:
            body = {"spec": {"holderIdentity": name, "renewTime": stamp()[:-1] + ".000000Z"}}
            headers = {"content-type": PATCHES["merge"]}
            answer = self.http.patch(f"{root}/{name}", content=json.dumps(body), headers=headers)
            if answer.status_code == 404:
                self.http.post(root, json={"metadata": {"name": name}, **body})

    def _play(self, pod: Obj) -> None:
        about = pod["metadata"]
        if pod["spec"].get("nodeName") not in self.nodes:
            return
        path = f"/api/v1/namespaces/{about['namespace']}/pods/{about['name']}"
        if "deletionTimestamp" in about:
            self.http.request("DELETE", path, json={"gracePeriodSeconds": 0})
        elif pod["status"]["phase"] == "Pending":
            self._status(path, about.get("annotations", {}).get("plays", "run"))

    def _status(self, path: str, plays: str) -> None:
        phase = {"succeed": "Succeeded", "fail": "Failed"}.get(plays, "Running")
        ready = "True" if plays == "run" else "False"
        conditions = [{"type": "Ready", "status": ready, "lastTransitionTime": stamp()}]
        state: Obj = {"phase": phase, "startTime": stamp(), "conditions": conditions}
        if plays == "fail":
            ended = {"terminated": {"exitCode": 3, "reason": "Error"}}
            about = {"name": "main", "image": "busybox:1", "imageID": "", "ready": False, "restartCount": 0}
            state["containerStatuses"] = [about | {"state": ended}]
        headers = {"content-type": PATCHES["strategic"]}
        self.http.patch(f"{path}/status", content=json.dumps({"status": state}), headers=headers)
