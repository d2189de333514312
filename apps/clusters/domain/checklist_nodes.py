"""The check list's rows about machines: how many there are, which mark's labels they have, whose cards nobody sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.clusters.domain.checklist_rows import Check, State, bounded, failed
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.nodes import NodeFacts, read_node
from apps.clusters.domain.survey import Failure
from apps.kernel.quantities import QuantityError, parse_count

COMMON_CARDS = frozenset({"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "huawei.com/Ascend910"})
NAMED = 5


def node_rows(nodes: Sequence[Mapping[str, Any]] | Failure | None, marks: Sequence[MarkFacts]) -> Iterator[Check]:
    """A row for all nodes, one for each mark, and one for each kind of card that no mark accounts for."""
    if nodes is None:
        return
    if isinstance(nodes, Failure):
        yield failed("nodes", nodes, State.WARN)
        return
    facts = [read_node(item, marks) for item in nodes]
    if not facts:
        yield Check("nodes", State.WARN, "nodes_none")
        return
    ready = sum(node.ready for node in facts)
    numbers = {"count": len(facts), "ready": ready}
    yield Check("nodes", State.OK if ready else State.WARN, "nodes" if ready else "nodes_unready", numbers)
    for mark in marks:
        yield _mark(mark, [node for node in facts if node.mark == mark.mark])
    for resource, names in sorted(_stray(nodes, facts, marks).items()):
        yield _cards(resource, names, marks)


def _mark(mark: MarkFacts, nodes: Sequence[NodeFacts]) -> Check:
    """A cluster need not have every kind of card, so none of one is no fault."""
    numbers: dict[str, Any] = {"mark": mark.mark, "labels": _labels(mark), "count": len(nodes)}
    if not nodes:
        return Check("mark", State.OK, "mark_absent", numbers)
    return Check("mark", State.OK, "mark", numbers | {"cards": sum(node.cards_capacity for node in nodes)})


def _cards(resource: str, names: Sequence[str], marks: Sequence[MarkFacts]) -> Check:
    fitting = next((mark for mark in marks if mark.resource_name == resource), None)
    numbers: dict[str, Any] = {"resource": resource, "count": len(names), "nodes": list(names[:NAMED])}
    if fitting is None:
        return Check("cards", State.WARN, "cards_without_mark", numbers)
    more = {"node": names[0], "mark": fitting.mark, "labels": _labels(fitting)}
    return Check("cards", State.WARN, "cards_unlabelled", numbers | more)


def _stray(
    nodes: Sequence[Mapping[str, Any]], facts: Sequence[NodeFacts], marks: Sequence[MarkFacts]
) -> dict[str, list[str]]:
    """The names of nodes that have cards but no mark, by the cards' resource name."""
    known = COMMON_CARDS | {mark.resource_name for mark in marks}
    found: dict[str, list[str]] = {}
    for item, node in zip(nodes, facts, strict=True):
        for resource in sorted(known) if node.mark is None else ():
            if _count(item, resource):
                found.setdefault(resource, []).append(bounded(node.name))
    return found


def _count(item: Mapping[str, Any], resource: str) -> int:
    status = item.get("status")
    capacity = status.get("capacity") if isinstance(status, Mapping) else None
    try:
        return parse_count(str(capacity.get(resource))) if isinstance(capacity, Mapping) else 0
    except QuantityError:
        return 0


def _labels(mark: MarkFacts) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(mark.node_selector.items()))
