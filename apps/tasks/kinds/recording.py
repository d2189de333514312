"""What is kept of a cluster's objects: enough to derive every status from, bounded and storable (F18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.tasks.domain.naming import LABEL_ATTEMPT, LABEL_TASK
from apps.tasks.kinds.raw import condition, count, entries, inner, moment, text

LONGEST_TEXT = 4000
_POD_METADATA = ("name", "namespace", "uid", "resourceVersion", "labels", "creationTimestamp", "deletionTimestamp")
_POD_SPEC = ("nodeName", "restartPolicy", "priorityClassName", "terminationGracePeriodSeconds")
_CONTAINER_SPEC = ("name", "image", "restartPolicy", "resources", "ports")
_HIDDEN_METADATA = ("managedFields",)


def storable(value: Any) -> Any:
    """The same JSON with its texts bounded and without what PostgreSQL cannot keep: NUL and lone surrogates."""
    if isinstance(value, str):
        bounded = value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "…"
        return bounded.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [storable(entry) for entry in value]
    return value


def recorded_pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata, node and status of a pod, and of its spec what names its containers."""
    spec = _picked(inner(pod, "spec"), _POD_SPEC)
    for part in ("containers", "initContainers"):
        spec[part] = [_picked(container, _CONTAINER_SPEC) for container in entries(pod, "spec", part)]
    kept = {"metadata": _picked(inner(pod, "metadata"), _POD_METADATA), "spec": spec, "status": inner(pod, "status")}
    clean: dict[str, Any] = storable(kept)
    return clean


def recorded_workload(workload: Mapping[str, Any]) -> dict[str, Any]:
    """The whole object but for the bookkeeping of field owners."""
    metadata = {key: value for key, value in inner(workload, "metadata").items() if key not in _HIDDEN_METADATA}
    clean: dict[str, Any] = storable({**workload, "metadata": metadata})
    return clean


def owner_of(item: Mapping[str, Any]) -> tuple[UUID, int] | None:
    """Task and attempt number by the object's labels; None for an object that is none of ours."""
    labels = inner(item, "metadata", "labels")
    task, attempt = labels.get(LABEL_TASK), labels.get(LABEL_ATTEMPT)
    try:
        return UUID(str(task)), int(str(attempt)[:9])
    except ValueError:
        return None


def uid_of(item: Mapping[str, Any]) -> str:
    return text(item, "metadata", "uid")[:64]


def ended_at(workload: Mapping[str, Any], *, latest: datetime) -> datetime:
    """When the workload says that it ended (F15: the true time), else ``latest``; never after ``latest``."""
    told = moment(workload, "status", "completionTime")
    for kind in ("Complete", "Failed"):
        told = told or moment(condition(workload, kind), "lastTransitionTime")
    return min(told, latest) if told else latest


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """One Event object of a cluster in our words; ``uid`` with ``count`` tell a repetition from news."""

    uid: str
    at: datetime
    reason: str
    message: str
    warning: bool
    count: int
    object_kind: str
    object_name: str
    object_uid: str
    namespace: str

    @property
    def possible_owners(self) -> tuple[str, ...]:
        """Names of workloads that the object can belong to, the longest first: its own, then without generated ends."""
        names = [self.object_name]
        while len(names) < 3 and "-" in names[-1]:
            names.append(names[-1].rsplit("-", 1)[0])
        return tuple(names)


def read_event(item: Mapping[str, Any], *, now: datetime) -> ClusterEvent:
    """The event, with ``now`` where the cluster gave no time at all (F18) or one in the future."""
    times = [moment(item, key) for key in ("lastTimestamp", "eventTime", "firstTimestamp")]
    times += [moment(item, "series", "lastObservedTime"), moment(item, "metadata", "creationTimestamp")]
    known = [at for at in times if at is not None]
    repeated = max(count(item, "count"), count(item, "series", "count"), 1)
    reason, message = storable(text(item, "reason")), storable(text(item, "message") or text(item, "note"))
    return ClusterEvent(
        uid=uid_of(item),
        at=min(max(known, default=now), now),
        reason=reason[:60] or "Event",
        message=message[:2000],
        warning=text(item, "type") == "Warning",
        count=repeated,
        object_kind=text(item, "involvedObject", "kind"),
        object_name=text(item, "involvedObject", "name"),
        object_uid=text(item, "involvedObject", "uid"),
        namespace=text(item, "involvedObject", "namespace"),
    )


def _picked(value: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value[key] for key in keys if value.get(key) is not None}
