"""Bodies of Vector's http sink (kubernetes_logs source, codec json) to events, and events to what they say of a line.

Nothing here trusts the sender: an event that cannot be read is told apart with a reason and never spoils its batch,
because Vector drops a whole batch for good when it is answered 4xx.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from apps.logs.domain.lines import Stream, parse_time

TASK_LABEL = "platform/task-id"
ATTEMPT_LABEL = "platform/attempt"
# Kubernetes: /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restart>.log; names hold neither "_" nor "/".
_FILE = re.compile(r"^(?:.*/)?([a-z0-9.-]{1,253})_([a-z0-9.-]{1,253})_([A-Za-z0-9-]{1,64})/([a-z0-9.-]{1,63})/\d+\.log")
_UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_ATTEMPT = re.compile(r"^[1-9][0-9]{0,8}$", re.ASCII)
_LONGEST_NAME = 253


class Fault(StrEnum):
    """Why an event is set aside instead of stored."""

    MALFORMED = "malformed"
    NO_TIME = "no_time"
    NO_POD = "no_pod"
    NOT_OURS = "not_ours"
    UNKNOWN_TASK = "unknown_task"
    WRONG_NAMESPACE = "wrong_namespace"
    UNSTORABLE = "unstorable"


class NotJsonError(ValueError):
    """The body holds no JSON at all: sending it again would not help."""


class KubernetesFacts(msgspec.Struct, frozen=True):
    """The part of an event that Vector adds from the API server; the whole is missing when it does not know the pod."""

    pod_name: str = ""
    pod_namespace: str = ""
    pod_uid: str = ""
    container_name: str = ""
    pod_labels: dict[str, str] = {}


class VectorEvent(msgspec.Struct, frozen=True):
    message: str
    timestamp: str = ""
    stream: str = "stdout"
    file: str = ""
    kubernetes: KubernetesFacts | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What an event says about its line's origin. Without labels (``task_id`` empty) the pod's identity must do."""

    task_id: str
    attempt: int
    namespace: str
    pod_uid: str
    pod: str
    container: str
    stream: Stream


@dataclass(frozen=True, slots=True)
class ReadEvent:
    at_ns: int
    claim: Claim
    message: str


def events(body: bytes) -> Iterator[VectorEvent | Fault]:
    """Every event of a JSON array, of NDJSON or of a single object, in order; raises NotJsonError for none."""
    for item in _items(body.strip()):
        yield _event(item)


def read(event: VectorEvent) -> ReadEvent | Fault:
    """What the event says: from its Kubernetes facts, else from the log file's path (external facts, Vector §2.1)."""
    try:
        at_ns = parse_time(event.timestamp)
    except ValueError:
        return Fault.NO_TIME
    facts = event.kubernetes or KubernetesFacts()
    path = _FILE.match(event.file[:1000])
    namespace, pod, uid, container = path.groups() if path else ("", "", "", "")
    claim = Claim(
        task_id="",
        attempt=0,
        namespace=facts.pod_namespace or namespace,
        pod_uid=facts.pod_uid or uid,
        pod=facts.pod_name or pod,
        container=facts.container_name or container,
        stream="stderr" if event.stream == "stderr" else "stdout",
    )
    if not _complete(claim):
        return Fault.NO_POD
    if not facts.pod_labels:
        return ReadEvent(at_ns, claim, event.message)
    return _labelled(claim, facts.pod_labels, at_ns, event.message)


def owner_names(pod: str) -> tuple[str, ...]:
    """The object names that a pod of this name may come from: ``<name>-<suffix>`` and ``<name>-<hash>-<suffix>``."""
    parts = pod.split("-")
    return tuple("-".join(parts[:-count]) for count in (1, 2) if len(parts) > count)


def _labelled(claim: Claim, labels: Mapping[str, str], at_ns: int, message: str) -> ReadEvent | Fault:
    task_id, attempt = labels.get(TASK_LABEL), labels.get(ATTEMPT_LABEL)
    if task_id is None or attempt is None:
        return Fault.NOT_OURS
    if not _UUID.match(task_id) or not _ATTEMPT.match(attempt):
        return Fault.UNKNOWN_TASK
    owned = Claim(task_id, int(attempt), claim.namespace, claim.pod_uid, claim.pod, claim.container, claim.stream)
    return ReadEvent(at_ns, owned, message)


def _complete(claim: Claim) -> bool:
    names = (claim.namespace, claim.pod_uid, claim.pod, claim.container)
    return all(0 < len(name) <= _LONGEST_NAME and name.isprintable() for name in names) and len(claim.pod_uid) <= 64


def _event(item: Any) -> VectorEvent | Fault:
    try:
        if isinstance(item, msgspec.Raw):
            return msgspec.json.decode(item, type=VectorEvent)
        return msgspec.convert(item, VectorEvent) if not isinstance(item, Fault) else item
    except (msgspec.MsgspecError, RecursionError):
        return Fault.MALFORMED


def _items(body: bytes) -> Iterator[Any]:
    if body.startswith(b"["):
        try:
            return iter(msgspec.json.decode(body, type=list[msgspec.Raw]))
        except (msgspec.MsgspecError, RecursionError):
            return iter(_salvaged(body))
    items = [_lenient(line) for line in body.splitlines() if line.strip()]
    if all(isinstance(item, Fault) for item in items):
        raise NotJsonError
    return iter(items)


def _lenient(text: bytes) -> Any:
    """Python's parser takes what a strict one refuses: bytes that are not UTF-8 (replaced) and lone surrogates."""
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Fault.MALFORMED


def _salvaged(body: bytes) -> list[Any]:
    """The readable elements of an array that as a whole is not JSON; what follows the first unreadable one is lost."""
    text, position = body.decode("utf-8", "replace"), 1
    found: list[Any] = []
    decoder = json.JSONDecoder()
    while (position := _skip(text, position)) < len(text):
        if text[position] == "]":
            return found
        try:
            item, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        found.append(item)
    if not found:
        raise NotJsonError
    return [*found, Fault.MALFORMED]


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position
