"""Small readers of plain Kubernetes objects (dicts as they travel on the wire)."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import orjson

Obj: TypeAlias = dict[str, Any]


def meta(obj: Obj) -> Obj:
    """Return the metadata, made when it is missing."""
    found = obj.get("metadata")
    if found is None:
        found = obj["metadata"] = {}
    return found


def spec(obj: Obj) -> Obj:
    """Return the spec, made when it is missing."""
    return obj.setdefault("spec", {})  # type: ignore[no-any-return] # JSON carries no types


def status(obj: Obj) -> Obj:
    """Return the status, made when it is missing."""
    return obj.setdefault("status", {})  # type: ignore[no-any-return] # JSON carries no types


def name_of(obj: Obj) -> str:
    """Return metadata.name."""
    return str(obj["metadata"].get("name", ""))


def namespace_of(obj: Obj) -> str:
    """Return metadata.namespace, empty for cluster-wide objects."""
    return str(obj["metadata"].get("namespace", ""))


def uid_of(obj: Obj) -> str:
    """Return metadata.uid."""
    return str(obj["metadata"].get("uid", ""))


def labels_of(obj: Obj) -> dict[str, str]:
    """Return metadata.labels, never None."""
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Obj) -> dict[str, str]:
    """Return metadata.annotations, never None."""
    return obj["metadata"].get("annotations") or {}


def finalizers_of(obj: Obj) -> list[str]:
    """Return metadata.finalizers, never None."""
    return obj["metadata"].get("finalizers") or []


def deleting(obj: Obj) -> bool:
    """True once deletion was asked for."""
    return "deletionTimestamp" in obj["metadata"]


def controller_of(obj: Obj) -> Obj | None:
    """Return the owner reference that says controller: true."""
    for owner in obj["metadata"].get("ownerReferences") or []:
        if owner.get("controller"):
            return owner  # type: ignore[no-any-return] # JSON carries no types
    return None


def owner_reference(obj: Obj) -> Obj:
    """Return the controller reference that a child of `obj` carries."""
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": name_of(obj),
        "uid": uid_of(obj),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def condition(obj: Obj, kind: str) -> Obj | None:
    """Return the status condition of that type."""
    for found in (obj.get("status") or {}).get("conditions") or []:
        if found.get("type") == kind:
            return found  # type: ignore[no-any-return] # JSON carries no types
    return None


def condition_true(obj: Obj, kind: str) -> bool:
    """True when the condition of that type is True."""
    found = condition(obj, kind)
    return found is not None and found.get("status") == "True"


def set_condition(obj: Obj, new: Obj) -> bool:
    """Put a condition into the status, keeping lastTransitionTime while its status stays; say whether it changed."""
    conditions = status(obj).setdefault("conditions", [])
    for at, old in enumerate(conditions):
        if old.get("type") != new["type"]:
            continue
        if all(old.get(key) == new.get(key) for key in ("status", "reason", "message")):
            return False
        if old.get("status") == new["status"] and "lastTransitionTime" in old:
            new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
        conditions[at] = new
        return True
    conditions.append(new)
    return True


def pod_ready(pod: Obj) -> bool:
    """True when the pod's Ready condition is True."""
    return condition_true(pod, "Ready")


def pod_phase(pod: Obj) -> str:
    """Return status.phase, Pending when it was never set."""
    return str((pod.get("status") or {}).get("phase", "Pending"))


def pod_finished(pod: Obj) -> bool:
    """True for Succeeded and Failed pods."""
    return pod_phase(pod) in ("Succeeded", "Failed")


def containers_of(pod_spec: Obj) -> Iterable[Obj]:
    """Yield init containers, then containers."""
    yield from pod_spec.get("initContainers") or []
    yield from pod_spec.get("containers") or []


def copy(obj: Obj) -> Obj:
    """Return a deep copy of a JSON value, faster than copy.deepcopy."""
    return orjson.loads(orjson.dumps(obj))  # type: ignore[no-any-return] # JSON carries no types
