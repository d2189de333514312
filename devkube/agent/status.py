"""The pod status that kubelet would write, from what runs. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devkube.agent.clock import stamp
from devkube.agent.decide import Waiting
from devkube.agent.launch import Obj, pod_ip
from devkube.agent.quantities import whole
from devkube.agent.runs import Ended


@dataclass(frozen=True, slots=True)
class RunView:
    """One run as the status shows it."""

    number: int
    identity: str
    started: float | None
    ended: Ended | None


@dataclass(frozen=True, slots=True)
class ContainerView:
    """A container with its newest and its last-but-one run, and why it waits."""

    name: str
    image: str
    latest: RunView | None
    previous: RunView | None
    waiting: Waiting | None


def container_id(uid: str, container: str, number: int) -> str:
    """The id of one run."""
    return "devkube://" + hashlib.sha256(f"{uid}/{container}/{number}".encode()).hexdigest()


def image_id(image: str) -> str:
    """A stand-in for the digest of an image that was never pulled."""
    return f"{image.split('@', maxsplit=1)[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


def _terminated(run: RunView | None) -> Obj:
    if run is None or run.ended is None:
        return {}
    ended = run.ended
    state: Obj = {"exitCode": ended.code, "reason": ended.reason, "containerID": run.identity}
    state |= {"startedAt": stamp(ended.started), "finishedAt": stamp(ended.finished)}
    return {"terminated": state | ({"message": ended.message} if ended.message else {})}


def container_status(view: ContainerView, *, init: bool) -> Obj:
    """One entry of containerStatuses or initContainerStatuses."""
    latest, waiting = view.latest, view.waiting
    running = latest is not None and latest.ended is None and latest.started is not None
    last: Obj = {}
    if running and latest is not None:
        state: Obj = {"running": {"startedAt": stamp(latest.started or 0)}}
        last = _terminated(view.previous)
    elif waiting is not None or latest is None or latest.ended is None:
        waiting = waiting or Waiting("ContainerCreating")
        state = {"waiting": {"reason": waiting.reason, **({"message": waiting.message} if waiting.message else {})}}
        last = _terminated(latest)
    else:
        state = _terminated(latest)
        last = _terminated(view.previous)
    done = latest is not None and latest.ended is not None and latest.ended.code == 0
    return {
        "name": view.name,
        "image": view.image,
        "imageID": image_id(view.image) if latest else "",
        "containerID": latest.identity if latest else "",
        "state": state,
        "lastState": last,
        "ready": done if init else running,
        "started": running,
        "restartCount": latest.number if latest else 0,
    }


@dataclass(frozen=True, slots=True)
class PodView:
    """All that a pod's status is made of; `reason` and `message` are the pod's own, as DeadlineExceeded."""

    phase: str
    inits: Sequence[ContainerView]
    mains: Sequence[ContainerView]
    start_time: float
    reason: str = ""
    message: str = ""


def pod_status(pod: Obj, view: PodView, now: float) -> Obj:
    """The whole status; conditions keep the time of their last change from the pod's present ones."""
    inits = [container_status(each, init=True) for each in view.inits]
    mains = [container_status(each, init=False) for each in view.mains]
    old = {each["type"]: each for each in (pod.get("status") or {}).get("conditions") or []}
    conditions = [_condition(kind, *value, old, now) for kind, value in _conditions(view, inits, mains).items()]
    address = pod_ip(str(pod["metadata"]["uid"]))
    status: Obj = {
        "phase": view.phase,
        "conditions": conditions,
        "containerStatuses": mains,
        "hostIP": "127.0.0.1",
        "hostIPs": [{"ip": "127.0.0.1"}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": stamp(view.start_time),
        "qosClass": qos_class(pod["spec"]),
    }
    status |= {"initContainerStatuses": inits} if inits else {}
    status |= {"reason": view.reason} if view.reason else {}
    return status | ({"message": view.message} if view.message else {})


def _conditions(view: PodView, inits: Sequence[Obj], mains: Sequence[Obj]) -> Mapping[str, tuple[bool, str, str]]:
    ended = view.phase in ("Succeeded", "Failed")
    waiting_inits = [each["name"] for each in inits if not each["ready"]]
    unready = [each["name"] for each in mains if not each["ready"]]
    if view.phase == "Succeeded":
        ready = (False, "PodCompleted", "")
    elif view.phase == "Failed":
        ready = (False, "PodFailed", "")
    elif unready:
        ready = (False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    else:
        ready = (True, "", "")
    started = not waiting_inits or view.phase == "Succeeded"
    text = f"containers with incomplete status: [{' '.join(waiting_inits)}]"
    return {
        "PodReadyToStartContainers": (not ended, "", ""),
        "Initialized": (True, "", "") if started else (False, "ContainersNotInitialized", text),
        "Ready": ready,
        "ContainersReady": ready,
        "PodScheduled": (True, "", ""),
    }


def _condition(kind: str, good: bool, reason: str, message: str, old: Mapping[str, Obj], now: float) -> Obj:
    word = "True" if good else "False"
    before = old.get(kind, {})
    since = before.get("lastTransitionTime") if before.get("status") == word else None
    new: dict[str, Any] = {"type": kind, "status": word, "lastProbeTime": None}
    new["lastTransitionTime"] = since or stamp(now)
    for key, text in (("reason", reason), ("message", message)):
        # A strategic merge keeps what a patch leaves out: what was there before is taken away by name.
        new |= {key: text or None} if text or key in before else {}
    return new


def qos_class(spec: Obj) -> str:
    """Guaranteed, Burstable or BestEffort, from CPU and memory of all containers."""
    sections = []
    for container in [*(spec.get("initContainers") or []), *spec["containers"]]:
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name in ("cpu", "memory"):
            limit = limits.get(name)
            sections.append((limit, requests.get(name, limit)))
    if all(limit is None and request is None for limit, request in sections):
        return "BestEffort"
    same = all(limit is not None and _same(limit, request) for limit, request in sections)
    return "Guaranteed" if same else "Burstable"


def _same(one: object, other: object) -> bool:
    return str(one) == str(other) or ("m" not in f"{one}{other}" and whole(one) == whole(other))
