"""A message and its pod to the event that Vector's http sink sends (facts/external.md §2.1). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

from devkube.shipper.merging import Message

Obj: TypeAlias = dict[str, Any]
_TIME = re.compile(r"(.*?)(?:\.(\d{1,9}))?Z")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a log file stands: `<namespace>_<pod>_<uid>/<container>/<number>.log`."""

    namespace: str
    pod: str
    uid: str
    container: str
    number: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Read a path, of a rotated file too; None when it is no log file of a pod."""
        names = path.parent.parent.name.split("_")
        number = path.name.split(".")[0]
        if len(names) != 3 or not number.isdecimal():
            return None
        namespace, pod, uid = names
        return cls(namespace, pod, uid, path.parent.name, int(number))

    @property
    def file(self) -> str:
        """The path as it is on a real node."""
        return f"/var/log/pods/{self.namespace}_{self.pod}_{self.uid}/{self.container}/{self.number}.log"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known about a file's pod; `pod` None when nothing is."""

    pod: Obj | None
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    node_labels: Mapping[str, str] = field(default_factory=dict)


def vector_time(text: str) -> str:
    """A runtime's time with no, 3, 6 or 9 digits of fraction, as Vector writes it."""
    found = _TIME.fullmatch(text)
    if not found or not found.group(2):
        return text
    digits = found.group(2)
    digits = digits.ljust(next(size for size in (3, 6, 9) if size >= len(digits)), "0")
    return f"{found.group(1)}.{digits}Z"


def event(message: Message, source: Source, around: Surroundings) -> Obj:
    """One event; without a pod the whole `kubernetes` object is missing, as with Vector."""
    found: Obj = {
        "file": source.file,
        "message": message.text.decode(errors="replace"),
        "source_type": "kubernetes_logs",
        "stream": message.stream,
        "timestamp": vector_time(message.at),
    }
    if message.joined:
        found["_partial"] = True
    if around.pod is not None:
        found["kubernetes"] = kubernetes(source, around.pod, around)
    return found


def kubernetes(source: Source, pod: Obj, around: Surroundings) -> Obj:
    """The `kubernetes` object; what the pod does not have yet (address, container id) is left out."""
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    owners = meta.get("ownerReferences") or []
    statuses = [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]
    own: Obj = next((each for each in statuses if each["name"] == source.container), {})
    regular = next((each for each in spec["containers"] if each["name"] == source.container), None)
    found: Obj = {
        "container_id": own.get("containerID"),
        "container_image": regular.get("image") if regular else None,
        "container_image_id": own.get("imageID") if regular else None,
        "container_name": source.container,
        "namespace_labels": dict(around.namespace_labels),
        "node_labels": dict(around.node_labels),
        "pod_annotations": meta.get("annotations"),
        "pod_ip": status.get("podIP"),
        "pod_ips": [each["ip"] for each in status.get("podIPs") or []],
        "pod_labels": meta.get("labels"),
        "pod_name": source.pod,
        "pod_namespace": source.namespace,
        "pod_node_name": spec.get("nodeName"),
        "pod_owner": f"{owners[0]['kind']}/{owners[0]['name']}" if owners else None,
        "pod_uid": source.uid,
    }
    return {key: value for key, value in found.items() if value}
