"""Tables for `kubectl get`: the columns of the real server for the kinds that people look at."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.objects import Obj, condition_true, deleting, meta, name_of, spec, status

_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "annotations")


def wanted(accept: str) -> bool:
    """True when the client would rather have a table."""
    first = accept.split(",", maxsplit=1)[0].replace(" ", "")
    return "as=Table" in first and "application/json" in first


def table(resource: r.Resource, objects: list[Obj], rv: str, more: Obj) -> Obj:
    """Return a meta.k8s.io/v1 Table of objects."""
    columns, cells = _COLUMNS.get(resource.key, ((), lambda _: []))
    names = ["Name", *columns, "Age"]
    now = clock.now()
    rows = [
        {
            "cells": [name_of(obj), *cells(obj), _age(meta(obj).get("creationTimestamp"), now)],
            "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": _about(obj)},
        }
        for obj in objects
    ]
    definitions = [{"name": n, "type": "string", "format": "", "description": "", "priority": 0} for n in names]
    definitions[0]["format"] = "name"
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": rv, **more},
        "columnDefinitions": definitions,
        "rows": rows,
    }


def _about(obj: Obj) -> Obj:
    return {key: meta(obj)[key] for key in _KEPT if key in meta(obj)}


def _age(since: str | None, now: datetime) -> str:
    if not since:
        return "<unknown>"
    seconds = max(int(clock.seconds_since(since, now)), 0)
    for size, letter, most in ((86400, "d", 2), (3600, "h", 2), (60, "m", 2)):
        if seconds >= size * most:
            return f"{seconds // size}{letter}"
    return f"{seconds}s"


def _pod(pod: Obj) -> list[Any]:
    states = status(pod).get("containerStatuses") or []
    ready = sum(bool(each.get("ready")) for each in states)
    shown = "Terminating" if deleting(pod) else _pod_state(pod, states)
    restarts = sum(each.get("restartCount", 0) for each in states)
    return [f"{ready}/{len(spec(pod)['containers'])}", shown, str(restarts), spec(pod).get("nodeName", "<none>")]


def _pod_state(pod: Obj, states: list[Obj]) -> str:
    for each in states:
        state = each.get("state") or {}
        reason = (state.get("waiting") or state.get("terminated") or {}).get("reason")
        if reason:
            return str(reason)
    return str(status(pod).get("reason") or status(pod).get("phase", ""))


def _job(job: Obj) -> list[Any]:
    state = next((kind for kind in ("Failed", "Complete", "Suspended") if condition_true(job, kind)), "Running")
    wanted_ = spec(job).get("completions", spec(job).get("parallelism", 1))
    return [state, f"{status(job).get('succeeded', 0)}/{wanted_}"]


def _deployment(obj: Obj) -> list[Any]:
    state = status(obj)
    ready = f"{state.get('readyReplicas', 0)}/{spec(obj).get('replicas', 0)}"
    return [ready, str(state.get("updatedReplicas", 0)), str(state.get("availableReplicas", 0))]


def _replica_set(obj: Obj) -> list[Any]:
    state = status(obj)
    return [str(n) for n in (spec(obj).get("replicas", 0), state.get("replicas", 0), state.get("readyReplicas", 0))]


def _node(node: Obj) -> list[Any]:
    shown = "Ready" if condition_true(node, "Ready") else "NotReady"
    if spec(node).get("unschedulable"):
        shown += ",SchedulingDisabled"
    return [shown, (status(node).get("nodeInfo") or {}).get("kubeletVersion", "")]


def _event(event: Obj) -> list[Any]:
    about = event.get("involvedObject") or {}
    place = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    return [event.get("type", ""), event.get("reason", ""), place, event.get("message", "")]


_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[[Obj], list[Any]]]] = {
    r.PODS.key: (("Ready", "Status", "Restarts", "Node"), _pod),
    r.JOBS.key: (("Status", "Completions"), _job),
    r.DEPLOYMENTS.key: (("Ready", "Up-to-date", "Available"), _deployment),
    r.REPLICASETS.key: (("Desired", "Current", "Ready"), _replica_set),
    r.NODES.key: (("Status", "Version"), _node),
    r.EVENTS.key: (("Type", "Reason", "Object", "Message"), _event),
    r.NAMESPACES.key: (("Status",), lambda obj: [status(obj).get("phase", "")]),
    r.CLAIMS.key: (("Status", "Volume"), lambda obj: [status(obj).get("phase", ""), spec(obj).get("volumeName", "")]),
    r.PRIORITY_CLASSES.key: (("Value", "PreemptionPolicy"), lambda obj: [str(obj["value"]), obj["preemptionPolicy"]]),
}
