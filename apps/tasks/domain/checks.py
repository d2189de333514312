"""What a well-formed spec may still not ask for, told at submission (domain.md §§5, 6, 10; F04, F05)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.errors import Code, Refusal
from apps.kernel.quantities import format_cpu, format_memory
from apps.kernel.resources import Bundle
from apps.kernel.text import say as _
from apps.tasks.domain.reading import shown
from apps.tasks.domain.spec import Priority, TaskSpec
from apps.tasks.domain.splitting import per_node, split


@dataclass(frozen=True, slots=True)
class LargestNodes:
    """What single nodes could hold when empty: allocatable of CPU nodes, and most cards on one node by mark.

    ``cpu_nodes`` may be only the undominated ones. Nothing known (no node seen yet) refuses nothing: such a task waits.
    """

    cpu_nodes: tuple[Bundle, ...] = ()
    cards: Mapping[str, int] = field(default_factory=dict)
    all_nodes: Mapping[str, tuple[Bundle, ...]] = field(default_factory=dict)


def undominated(nodes: tuple[Bundle, ...]) -> tuple[Bundle, ...]:
    """The nodes that no other node covers: enough to tell whether a request could ever fit."""
    found: list[Bundle] = []
    for node in sorted(set(nodes), key=lambda node: (-node.cpu, -node.memory, -node.cards)):
        if not any(other.covers(node) for other in found):
            found.append(node)
    return tuple(found)


def check(spec: TaskSpec, *, marks: Mapping[str, MarkFacts], largest: LargestNodes) -> Refusal | None:
    """The first reason why this spec could never run as asked, or None."""
    return (
        _priority_fault(spec)
        or _mark_fault(spec, marks)
        or _cards_fault(spec, marks, largest)
        or _split_fault(spec, marks)
        or _size_fault(spec, marks, largest)
        or _shm_fault(spec, marks)
    )


def _priority_fault(spec: TaskSpec) -> Refusal | None:
    if spec.priority is not Priority.HIGH or spec.project is not None:
        return None
    message = _("high runs only in a project's own pool; a personal task has none")
    return Refusal(Code.INVALID, message, {"priority": [message]})


def nearest_marks(wanted: str, marks: Mapping[str, MarkFacts]) -> list[str]:
    """All valid marks, the most alike first."""

    def likeness(mark: str) -> float:
        return difflib.SequenceMatcher(None, wanted[:100].lower(), mark).ratio()

    return sorted(marks, key=lambda mark: (-likeness(mark), mark))


def _mark_fault(spec: TaskSpec, marks: Mapping[str, MarkFacts]) -> Refusal | None:
    wanted = spec.resources.mark
    if wanted is None or wanted in marks:
        return None
    valid = nearest_marks(wanted, marks)
    message = _("there is no mark “%(mark)s”; valid are: %(valid)s", mark=shown(wanted), valid=", ".join(valid) or "–")
    return Refusal(
        Code.UNKNOWN_MARK, message, {"resources.mark": [message]}, {"mark": shown(wanted), "valid_marks": valid}
    )


def _impossible(path: str, message: str, **numbers: object) -> Refusal:
    return Refusal(Code.IMPOSSIBLE_REQUEST, message, {path: [message]}, numbers)


def _cards_fault(spec: TaskSpec, marks: Mapping[str, MarkFacts], largest: LargestNodes) -> Refusal | None:
    mark, asked = marks.get(spec.resources.mark or ""), spec.resources.cards_per_node
    if mark is None:
        return None
    most = largest.cards.get(mark.mark) or mark.cards_per_node
    if asked <= most:
        return None
    message = _(
        "no node has %(asked)d × %(mark)s; the largest has %(largest)d", asked=asked, mark=mark.mark, largest=most
    )
    return _impossible("resources.cards_per_node", message, resource=f"cards:{mark.mark}", asked=asked, largest=most)


def _split_fault(spec: TaskSpec, marks: Mapping[str, MarkFacts]) -> Refusal | None:
    shares = split(spec.containers, spec.resources, marks.get(spec.resources.mark or ""))
    return shares if isinstance(shares, Refusal) else None


def _size_fault(spec: TaskSpec, marks: Mapping[str, MarkFacts], largest: LargestNodes) -> Refusal | None:
    """Figures of the user's own (CPU only, devices) must fit one node; bound shares always do."""
    mark = marks.get(spec.resources.mark or "")
    if mark is not None and not mark.is_device:
        return None
    nodes = largest.cpu_nodes if mark is None else largest.all_nodes.get(mark.mark, ())
    want = per_node(spec, mark)
    if not nodes or any(node.covers(want) for node in nodes):
        return None
    cpu, memory = max(node.cpu for node in nodes), max(node.memory for node in nodes)
    if want.cpu > cpu:
        message = _(
            "no node has %(asked)s cores; the largest has %(largest)s", asked=_cores(want.cpu), largest=_cores(cpu)
        )
        return _impossible("containers", message, resource="cpu", asked=want.cpu, largest=cpu)
    if want.memory > memory:
        message = _(
            "no node has %(asked)s of memory; the largest has %(largest)s",
            asked=format_memory(want.memory),
            largest=format_memory(memory),
        )
        return _impossible("containers", message, resource="memory", asked=want.memory, largest=memory)
    roomiest = max((node.memory for node in nodes if node.cpu >= want.cpu), default=memory)
    message = _(
        "no node has %(cpu)s cores together with %(asked)s of memory; with that many cores the largest has %(largest)s",
        cpu=_cores(want.cpu),
        asked=format_memory(want.memory),
        largest=format_memory(roomiest),
    )
    return _impossible("containers", message, resource="memory", asked=want.memory, largest=roomiest)


def _cores(millicores: int) -> str:
    return format_cpu(millicores)


def _shm_fault(spec: TaskSpec, marks: Mapping[str, MarkFacts]) -> Refusal | None:
    """``/dev/shm`` lives in the containers' memory, so it cannot be larger than that (domain.md §10)."""
    memory = per_node(spec, marks.get(spec.resources.mark or "")).memory
    if spec.shm is None or spec.shm <= memory:
        return None
    message = _(
        "shared memory counts in the containers' memory, which is %(largest)s together", largest=format_memory(memory)
    )
    return _impossible("shm", message, resource="shm", asked=spec.shm, largest=memory)
