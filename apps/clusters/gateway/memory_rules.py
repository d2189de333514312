"""An API server's rules as the gateway in memory keeps them: what is refused, what a patch makes."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.clusters.gateway.labels import labels_of
from apps.clusters.gateway.port import Change, Conflict, Manifest, Rejected, Resource, WatchEvent
from apps.clusters.gateway.selectors import matches

_NAME = re.compile(r"^[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?$")
_TEMPLATED = frozenset({Resource.JOB, Resource.DEPLOYMENT})
_COUNTS = ("parallelism", "completions", "replicas", "backoffLimit")
# Until a suspended Job has run once, these of its pods' fields may still change (how schedulers place it).
_PLACING = ("nodeSelector", "affinity", "tolerations", "schedulingGates")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the watch history; ``was`` are the labels before, so that leaving a selector shows as DELETED."""

    version: int
    resource: Resource
    change: Change
    object: dict[str, Any]
    was: Mapping[str, Any] | None


def merged(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386): null deletes a key, objects merge, anything else replaces."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def name_of(body: Mapping[str, Any]) -> str:
    return str((body.get("metadata") or {}).get("name") or "")


def selected(item: Mapping[str, Any], selector: Mapping[str, str] | str | None) -> bool:
    """Whether the object's labels match; raises Rejected for what is no selector."""
    try:
        return matches(labels_of(item), selector)
    except ValueError as fault:
        raise Rejected(str(fault), 400, "BadRequest") from fault


def validate(resource: Resource, body: Mapping[str, Any], standing: Mapping[str, Any] | None = None) -> None:
    """Raise Rejected for what can never be, or can never become of ``standing``."""
    name = name_of(body)
    if not _NAME.match(name):
        raise _invalid(f'metadata.name: Invalid value: "{name}"')
    spec = body.get("spec") or {}
    for field in _COUNTS:
        if isinstance(spec.get(field), int) and spec[field] < 0:
            raise _invalid(f"spec.{field}: Invalid value: {spec[field]}: must be greater than or equal to 0")
    if resource in _TEMPLATED:
        _validate_template(resource, spec)
    if standing is not None:
        _validate_change(resource, body, standing)


def _validate_template(resource: Resource, spec: Mapping[str, Any]) -> None:
    template = spec.get("template") or {}
    if not (template.get("spec") or {}).get("containers"):
        raise _invalid("spec.template.spec.containers: Required value")
    chosen = (spec.get("selector") or {}).get("matchLabels") or {}
    if resource is Resource.DEPLOYMENT and not chosen.items() <= dict(labels_of(template)).items():
        raise _invalid("spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`")


def _validate_change(resource: Resource, body: Mapping[str, Any], standing: Mapping[str, Any]) -> None:
    spec, stood = body.get("spec") or {}, standing.get("spec") or {}
    fixed: dict[Resource, list[tuple[str, Any, Any]]] = {
        Resource.JOB: [
            ("spec.completions", spec.get("completions"), stood.get("completions")),
            ("spec.template", *map(_of_template, (spec, stood), (_may_be_placed(standing),) * 2)),
        ],
        Resource.DEPLOYMENT: [("spec.selector", spec.get("selector"), stood.get("selector"))],
        Resource.PRIORITY_CLASS: [("value", body.get("value"), standing.get("value"))],
    }
    for field, now, before in fixed.get(resource, []):
        if now != before:
            raise _invalid(f"{field}: Invalid value: field is immutable")


def _may_be_placed(job: Mapping[str, Any]) -> bool:
    return bool((job.get("spec") or {}).get("suspend")) and not (job.get("status") or {}).get("startTime")


def _of_template(spec: Mapping[str, Any], placing: bool) -> Any:
    template = spec.get("template") or {}
    if not placing:
        return template
    return {key: value for key, value in (template.get("spec") or {}).items() if key not in _PLACING}


def check_precondition(standing: Mapping[str, Any], body: Mapping[str, Any], *, patched: bool = False) -> None:
    """Raise Conflict for an old version, and for another object's uid (in a patch: Rejected, as it is immutable)."""
    about, stands = body.get("metadata") or {}, standing["metadata"]
    if (about.get("resourceVersion") or stands["resourceVersion"]) != stands["resourceVersion"]:
        raise Conflict("the object has been modified; please apply your changes to the latest version", 409, "Conflict")
    uid = about.get("uid") or stands["uid"]
    if uid != stands["uid"] and patched:
        raise _invalid(f'metadata.uid: Invalid value: "{uid}": field is immutable')
    if uid != stands["uid"]:
        message = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stands['uid']}"
        raise Conflict(message, 409, "Conflict")


def owned(owner: Manifest) -> dict[str, Any]:
    """What a pod has of its owner's template."""
    template = owner["spec"]["template"]
    reference = {"kind": owner.get("kind"), "name": name_of(owner), "uid": owner["metadata"]["uid"], "controller": True}
    metadata = {
        "labels": (template.get("metadata") or {}).get("labels") or {},
        "annotations": (template.get("metadata") or {}).get("annotations") or {},
        "ownerReferences": [reference],
    }
    return {"metadata": metadata, "spec": template["spec"]}


def as_watched(entry: Entry, selector: str | None) -> WatchEvent | None:
    """The line as a watch of that selector tells it, or None."""
    now, before = selected(entry.object, selector), entry.was is not None and matches(entry.was, selector)
    version = str(entry.version)
    if entry.change is Change.DELETED:
        return WatchEvent(Change.DELETED, copy.deepcopy(entry.object), version) if before else None
    if now:
        return WatchEvent(Change.MODIFIED if before else Change.ADDED, copy.deepcopy(entry.object), version)
    return WatchEvent(Change.DELETED, copy.deepcopy(entry.object), version) if before else None


def grace_of(resource: Resource, item: Mapping[str, Any], asked: int | None) -> int:
    """How many seconds an object has before it goes: only a pod on a node that has not ended has any."""
    if resource is not Resource.POD:
        return 0
    spec, phase = item.get("spec") or {}, (item.get("status") or {}).get("phase")
    if phase in {"Succeeded", "Failed"} or not (spec.get("nodeName") or phase == "Running"):
        return 0
    return int(spec.get("terminationGracePeriodSeconds") or 30) if asked is None else asked


def _invalid(message: str) -> Rejected:
    return Rejected(message, 422, "Invalid")
