"""Record what a real control plane tells of workloads into tests/recorded/streams, names and times made steady.

    python -m tests.support.recording

Objects of every kind as they come back from their making go into tests/recorded/created.json.
Each file is the watch of one workload and its pods, line by line as it came. Recorded again, a file differs where
Kubernetes does and in the order of what happened at the same moment.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from apps.clusters.gateway.kube.translate import collection_path
from devkube.real.control_plane import ControlPlane
from devkube.real.simulated_nodes import SimulatedNodes
from tests.contract.cases import NAMESPACE, deployment, job, namespace
from tests.contract.created import CREATED, MADE, as_created
from tests.support.kubernetes import until

FOLDER = Path(__file__).parents[1] / "recorded" / "streams"
Obj = dict[str, Any]
KINDS = {"jobs": "/apis/batch/v1", "deployments": "/apis/apps/v1", "pods": "/api/v1"}
MERGE = {"Content-Type": "application/merge-patch+json"}
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"\b10\.\d+\.\d+\.\d+\b")
_VERSION = re.compile(r'("resourceVersion": ")(\d+)"')


class Scene:
    """One workload that does something."""

    def __init__(self, http: httpx.Client, name: str) -> None:
        self.http, self.name = http, name

    def path(self, plural: str) -> str:
        return f"{KINDS[plural]}/namespaces/{NAMESPACE}/{plural}"

    def make(self, plural: str, body: Obj, *, cards: int = 0, **does: str) -> None:
        """Create it; its pods want so many cards and do what is said (devkube.real.stages)."""
        template = body["spec"]["template"]
        template["metadata"]["annotations"] = {f"devkube/{key.replace('_', '-')}": does[key] for key in does}
        if cards:
            template["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(cards)}}
        self.http.post(self.path(plural), json=body).raise_for_status()

    def merge(self, plural: str, patch: Obj) -> None:
        self.http.patch(f"{self.path(plural)}/{self.name}", json=patch, headers=MERGE).raise_for_status()

    def delete(self, plural: str) -> None:
        query = {"propagationPolicy": "Background"}
        self.http.delete(f"{self.path(plural)}/{self.name}", params=query).raise_for_status()
        until(lambda: not self.pods())

    def pods(self) -> list[Obj]:
        query = {"labelSelector": f"platform/task-id={self.name}"}
        return list(self.http.get(self.path("pods"), params=query).json()["items"])

    def told(self) -> str:
        """All that the pods' states say."""
        return json.dumps([pod["status"] for pod in self.pods()])

    def read(self, plural: str) -> Obj:
        return dict(self.http.get(f"{self.path(plural)}/{self.name}").json())

    def status(self, plural: str) -> Obj:
        return dict(self.read(plural).get("status") or {})

    def conditions(self, plural: str) -> set[str]:
        found = self.status(plural).get("conditions") or []
        return {each["type"] for each in found if each["status"] == "True"}

    def running(self, number: int) -> None:
        until(lambda: sum(pod["status"].get("phase") == "Running" for pod in self.pods()) >= number)


def job_succeeds(scene: Scene) -> None:
    scene.make("jobs", job(scene.name, task=scene.name))
    scene.merge("jobs", {"spec": {"suspend": False}})
    until(lambda: "Complete" in scene.conditions("jobs"))
    scene.delete("jobs")


def job_pauses(scene: Scene) -> None:
    scene.make("jobs", job(scene.name, task=scene.name), runs_for="3s", stops_after="1s")
    for suspend in (False, True, False):
        scene.merge("jobs", {"spec": {"suspend": suspend}})
        if suspend:
            until(lambda: not scene.pods())
        else:
            scene.running(1)
    until(lambda: "Complete" in scene.conditions("jobs"))


def job_fails(scene: Scene) -> None:
    body = job(scene.name, task=scene.name)
    body["spec"] |= {"suspend": False, "backoffLimit": 1}
    scene.make("jobs", body, exit_code="3")
    until(lambda: "Failed" in scene.conditions("jobs"))


def job_runs_out_of_memory(scene: Scene) -> None:
    body = job(scene.name, task=scene.name)
    body["spec"] |= {"suspend": False, "backoffLimit": 0}
    scene.make("jobs", body, exit_code="137", reason="OOMKilled")
    until(lambda: "Failed" in scene.conditions("jobs"))


def job_cannot_pull(scene: Scene) -> None:
    body = job(scene.name, task=scene.name)
    body["spec"]["suspend"] = False
    scene.make("jobs", body, waiting="ImagePullBackOff")
    until(lambda: "ImagePullBackOff" in scene.told())
    scene.delete("jobs")


def job_finds_no_room(scene: Scene) -> None:
    body = job(scene.name, task=scene.name)
    body["spec"]["suspend"] = False
    scene.make("jobs", body, cards=99)
    until(lambda: "Unschedulable" in scene.told())
    scene.delete("jobs")


def deployment_rolls_out(scene: Scene) -> None:
    scene.make("deployments", deployment(scene.name, task=scene.name, replicas=2))
    until(lambda: scene.status("deployments").get("availableReplicas") == 2)
    image = [{"name": "main", "image": "busybox:2"}]
    scene.merge("deployments", {"spec": {"template": {"spec": {"containers": image}}}})
    until(lambda: _rolled_out(scene.read("deployments"), 2))
    scene.merge("deployments", {"spec": {"replicas": 1}})
    until(lambda: _rolled_out(scene.read("deployments"), 1) and len(scene.pods()) == 1)
    scene.delete("deployments")


def deployment_gets_stuck(scene: Scene) -> None:
    body = deployment(scene.name, task=scene.name, replicas=1)
    body["spec"]["progressDeadlineSeconds"] = 3
    scene.make("deployments", body)
    until(lambda: scene.status("deployments").get("availableReplicas") == 1)
    waits = {"annotations": {"devkube/waiting": "ErrImagePull"}}
    scene.merge("deployments", {"spec": {"template": {"metadata": waits}}})
    until(lambda: "ProgressDeadlineExceeded" in json.dumps(scene.status("deployments")))
    scene.delete("deployments")


def _rolled_out(deployment: Obj, replicas: int) -> bool:
    status = deployment["status"]
    counts = {status.get(key) for key in ("replicas", "updatedReplicas", "availableReplicas")}
    return status.get("observedGeneration") == deployment["metadata"]["generation"] and counts == {replicas}


SCENES: dict[str, Callable[[Scene], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        job_succeeds,
        job_pauses,
        job_fails,
        job_runs_out_of_memory,
        job_cannot_pull,
        job_finds_no_room,
        deployment_rolls_out,
        deployment_gets_stuck,
    )
}


class Recorder:
    """The lines of all watches in the order of their coming, by workload."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self._lock = plane, threading.Lock()
        self.lines: dict[str, list[Obj]] = {name: [] for name in SCENES}

    @contextmanager
    def listening(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._listen, args=(plural,), daemon=True) for plural in KINDS]
        for thread in threads:
            thread.start()
        time.sleep(1)
        yield
        time.sleep(2)

    def _listen(self, plural: str) -> None:
        query = {"watch": "1", "timeoutSeconds": "300", "labelSelector": "platform/task-id"}
        with self._plane.client(timeout=300) as http:
            try:
                with http.stream("GET", f"{KINDS[plural]}/{plural}", params=query) as answer:
                    for line in answer.iter_lines():
                        self._keep(json.loads(line))
            except httpx.HTTPError:
                return  # the plane has been stopped

    def _keep(self, event: Obj) -> None:
        event["object"]["metadata"].pop("managedFields", None)
        with self._lock:
            self.lines[event["object"]["metadata"]["labels"]["platform/task-id"]].append(event)


def steady(events: list[Obj]) -> str:
    """The lines with uids, pod names, addresses, versions and times that depend on their order only."""
    text = "".join(json.dumps(event) + "\n" for event in events)
    first = min(datetime.fromisoformat(each) for each in _TIME.findall(text))
    uids = {uid: f"00000000-0000-0000-0000-{number:012}" for number, uid in enumerate(_found(_UID, text), 1)}
    places = {place: f"10.0.0.{number}" for number, place in enumerate(_found(_ADDRESS, text), 1)}
    versions = sorted({int(found[1]) for found in _VERSION.findall(text)})
    for pattern, known in ((_UID, uids), (_ADDRESS, places)):
        text = pattern.sub(lambda found, known=known: known[found[0]], text)  # type: ignore[misc]  # bound at once
    text = _VERSION.sub(lambda found: f'{found[1]}{versions.index(int(found[2])) + 1}"', text)
    text = _TIME.sub(lambda found: _moved(found[0], first), text)
    return _named(text, events)


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(pattern.findall(text)))


def _moved(moment: str, first: datetime) -> str:
    after = timedelta(seconds=int((datetime.fromisoformat(moment) - first).total_seconds()))
    return (BEGIN + after).strftime("%Y-%m-%dT%H:%M:%SZ")


def _named(text: str, events: list[Obj]) -> str:
    """Random ends of pods' names and of their ReplicaSets' and mounts', told by number."""
    names = [event["object"]["metadata"]["name"] for event in events if event["object"]["kind"] == "Pod"]
    mounts = re.findall(r"kube-api-access-(\w{5})", text)
    hashes = re.findall(r'"pod-template-hash": "(\w+)"', text)
    ends = [name.rpartition("-")[2] for name in names]
    for prefix, found in (("pod", ends), ("mnt", mounts), ("set", hashes)):
        for number, end in enumerate(dict.fromkeys(found), 1):
            text = re.sub(rf"\b{end}\b", f"{prefix}{number:02}", text)
    return text


def created(http: httpx.Client) -> Obj:
    """Objects of every kind as they come back from a dry run of their making."""
    found: Obj = {}
    for resource, body in MADE.items():
        path = collection_path(resource, body["metadata"].get("namespace", ""))
        answer = http.post(path, params={"dryRun": "All"}, json=body).raise_for_status()
        found[resource.name] = as_created(answer.json(), service_accounts=True)
    return found


def record() -> None:
    """Play every scene on a plane of our own and write its file."""
    with ControlPlane("recording") as plane, SimulatedNodes(plane) as nodes, plane.client() as http:
        nodes.add("gpu-0", cards=8, mark="rtx-4090")
        http.post("/api/v1/namespaces", json=namespace()).raise_for_status()
        until(lambda: http.get(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default").is_success)
        CREATED.write_text(json.dumps(created(http), indent=1, sort_keys=True) + "\n")
        recorder = Recorder(plane)
        with recorder.listening(), ThreadPoolExecutor(len(SCENES)) as pool:
            for played in [pool.submit(scene, Scene(http, name)) for name, scene in SCENES.items()]:
                played.result()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, events in recorder.lines.items():
        (FOLDER / f"{name}.jsonl").write_text(steady(events))


if __name__ == "__main__":
    record()
