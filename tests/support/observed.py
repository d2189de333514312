"""Recorded cluster objects for tests: builders give the smallest object that the API server would give."""

from __future__ import annotations

from typing import Any

from apps.tasks.domain.states import Intent
from apps.tasks.kinds.base import Observed

Json = dict[str, Any]


def a_pod(name: str = "p-1", phase: str = "Running", *containers: Json, **changes: Any) -> Json:
    """A pod on node ``n1`` whose one container runs, unless said otherwise; ``leaving`` marks it as being deleted."""
    status: Json = {
        "phase": phase,
        "startTime": "2026-12-01T12:00:00Z",
        "conditions": changes.get("conditions", []),
        "initContainerStatuses": changes.get("init", []),
        "containerStatuses": list(containers),
        **changes.get("status", {}),
    }
    metadata: Json = {"name": name, "uid": f"uid-{name}"}
    if changes.get("leaving"):
        metadata["deletionTimestamp"] = "2026-12-01T12:05:00Z"
    spec = {"nodeName": changes.get("node", "n1"), "restartPolicy": changes.get("restart", "Never")}
    return {"metadata": metadata, "spec": spec, "status": status}


def up(name: str = "main", *, restarts: int = 0) -> Json:
    return {"name": name, "restartCount": restarts, "state": {"running": {"startedAt": "2026-12-01T12:00:01Z"}}}


def ended(name: str = "main", code: int = 0, *, reason: str = "", at: str = "", message: str | None = None) -> Json:
    terminated = {
        "exitCode": code,
        "reason": reason or ("Completed" if code == 0 else "Error"),
        "message": message,
        "finishedAt": at or None,
    }
    return {"name": name, "restartCount": 0, "state": {"terminated": terminated}}


def waits(name: str = "main", reason: str = "ContainerCreating", *, restarts: int = 0, **last: Any) -> Json:
    """A waiting container; ``last`` is its former end (exitCode, cause, words), ``message`` what the kubelet says."""
    message, cause, words = last.pop("message", None), last.pop("cause", None), last.pop("words", None)
    former = {"lastState": {"terminated": {**last, "reason": cause, "message": words}}} if last else {}
    return {
        "name": name,
        "restartCount": restarts,
        "state": {"waiting": {"reason": reason, "message": message}},
        **former,
    }


def a_condition(kind: str, status: str = "True", **more: Any) -> Json:
    return {"type": kind, "status": status, **more}


def a_job(*conditions: Json, suspend: bool = False, **status: Any) -> Json:
    return {
        "metadata": {"name": "train-a-abcdefgh", "uid": "job-uid"},
        "spec": {"suspend": suspend, "backoffLimit": 4, "activeDeadlineSeconds": 60},
        "status": {"conditions": list(conditions), **status},
    }


def a_deployment(*conditions: Json, wanted: int = 3, generation: int = 5, revision: int = 1, **status: Any) -> Json:
    """A Deployment whose spec wants ``wanted`` replicas; everything else named is a field of its status."""
    return {
        "metadata": {
            "name": "web-abcdefgh",
            "generation": generation,
            "annotations": {"platform/revision": str(revision)},
        },
        "spec": {"replicas": wanted},
        "status": {"observedGeneration": generation, "conditions": list(conditions), **status},
    }


def seen(workload: Json | None, *pods: Any, intent: Intent = Intent.RUN, **changes: Any) -> Observed:
    return Observed(workload, pods, intent=intent, **changes)
