"""From a task's spec to what it asks of a place (domain.md §§4, 7)."""

from __future__ import annotations

from collections.abc import Mapping

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.resources import Bundle
from apps.scheduling.domain.ordering import amounts
from apps.scheduling.domain.selection import read_selection
from apps.scheduling.domain.snapshot import Need
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.splitting import per_node
from apps.tasks.kinds.registry import KINDS


def need_of(spec: TaskSpec, marks: Mapping[str, MarkFacts]) -> Need:
    """The need of a spec; a task with a mark but no cards is CPU only (F04). A gang starts whole, others with
    ``min_available`` of their instances (one, where the user names no number)."""
    wanted = spec.resources
    name = wanted.mark if wanted.cards_per_node > 0 else None
    mark = marks.get(name) if name is not None else None
    kind = KINDS[spec.kind]
    least = wanted.nodes if kind.gang else min(wanted.nodes, spec.min_available or 1)
    return Need(
        per_node=per_node(spec, mark),
        nodes=wanted.nodes,
        least=least,
        mark=name,
        api=kind.resource.value.rsplit("/", 1)[0],
        selection=read_selection(spec.advanced, resource_name=mark.resource_name if mark is not None else None),
    )


def place_amounts(need: Need) -> dict[str, int]:
    """What a place in a pool books: the bound cores and memory beside the cards (domain.md §§4, 6)."""
    whole: Bundle = need.per_node * need.nodes
    return {name: amount for name, amount in amounts(whole, need.mark).items() if amount > 0}
