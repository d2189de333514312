"""A machine as its cluster describes it, read tolerantly: an odd field is empty, never an error (F18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.quantities import LARGEST_MILLICORES, QuantityError, parse_count, parse_cpu, whole_mib

MOST_CARDS = 10_000


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is recorded of a Node: allocatable millicores and MiB, cards usable and cards built in (F03)."""

    name: str
    uid: str
    cpu: int
    memory: int
    cards: int
    cards_capacity: int
    mark: str | None
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    ready: bool
    unschedulable: bool


def read_node(item: Mapping[str, Any], marks: Sequence[MarkFacts]) -> NodeFacts:
    """The facts of one Node object. Cards count under one resource name only, however many the node offers (F03)."""
    metadata, spec, status = (_mapping(item.get(part)) for part in ("metadata", "spec", "status"))
    labels = {str(key): str(value) for key, value in _mapping(metadata.get("labels")).items()}
    capacity, allocatable = _mapping(status.get("capacity")), _mapping(status.get("allocatable"))
    mark = _mark_of(labels, capacity, marks)
    built_in = _count(capacity.get(mark.resource_name)) if mark else 0
    return NodeFacts(
        name=str(metadata.get("name") or ""),
        uid=str(metadata.get("uid") or ""),
        cpu=_cpu(allocatable.get("cpu")),
        memory=_memory(allocatable.get("memory")),
        cards=min(built_in, _count(allocatable.get(mark.resource_name))) if mark else 0,
        cards_capacity=built_in,
        mark=mark.mark if mark else None,
        labels=labels,
        taints=[_taint(taint) for taint in _list(spec.get("taints")) if isinstance(taint, Mapping)],
        ready=_is_ready(status) and not metadata.get("deletionTimestamp"),
        unschedulable=bool(spec.get("unschedulable")),
    )


def _mark_of(labels: Mapping[str, str], capacity: Mapping[str, Any], marks: Sequence[MarkFacts]) -> MarkFacts | None:
    """The mark whose labels the node has: one whose cards are there before one whose are not, the more exact first."""
    fitting = [
        mark
        for mark in marks
        if all(labels.get(key) == value for key, value in mark.node_selector.items())
        and (mark.node_selector or mark.resource_name in capacity)
    ]
    ranked = sorted(fitting, key=lambda mark: (mark.resource_name not in capacity, -len(mark.node_selector), mark.mark))
    return ranked[0] if ranked else None


def _is_ready(status: Mapping[str, Any]) -> bool:
    return any(
        isinstance(condition, Mapping) and condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in _list(status.get("conditions"))
    )


def _taint(taint: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(taint.get(key) or "") for key in ("key", "value", "effect")}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _cpu(text: object) -> int:
    try:
        return min(LARGEST_MILLICORES, parse_cpu(str(text)))
    except QuantityError:
        return 0


def _memory(text: object) -> int:
    try:
        return whole_mib(str(text))
    except QuantityError:
        return 0


def _count(text: object) -> int:
    try:
        return min(MOST_CARDS, parse_count(str(text)))
    except QuantityError:
        return 0
