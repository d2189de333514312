"""Fit is by node: free cards, cores, memory of each, tightest first; a gang fits whole or not at all (domain.md §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from apps.kernel.resources import NOTHING, Bundle, Cards, MiB, Millicores
from apps.scheduling.domain.snapshot import Need, NodeView

Plan = Mapping[str, int]
"""How many of a task's pods go to each node, by node name within one cluster."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A place that holds the task: the plan covers at least ``least`` of its pods."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class NoFit:
    """Why not: how many pods would fit, what is free in all, and the most of each that one node has free."""

    fits: int
    free: Bundle
    largest: Bundle


def suitable(need: Need, nodes: Iterable[NodeView]) -> tuple[NodeView, ...]:
    """The nodes that could ever take one of the pods: same mark, and labels and taints allow it.

    Nodes with cards take tasks with cards only, so idle cores of a card's node stay with the card (domain.md §4).
    """
    return tuple(
        node
        for node in nodes
        if node.mark == need.mark and need.selection.accepts(node.labels) and need.selection.tolerates(node.taints)
    )


def _tightness(free: Bundle, name: str) -> tuple[int, int, int, str]:
    """Cards first: a full node with idle cores still refuses every task with cards."""
    return free.cards, free.cpu, free.memory, name


def fill(nodes: Iterable[NodeView], per_node: Bundle, count: int) -> dict[str, int]:
    """As many of ``count`` pods as fit, the tightest node first; nodes that are cordoned or not ready have no room."""
    rooms = ((node.free, node.name) for node in nodes)
    roomy = sorted(((_tightness(free, name), free) for free, name in rooms if free.covers(per_node)), key=itemgetter(0))
    left, plan = count, dict[str, int]()
    for (*_room, name), free in roomy:
        if not left:
            break
        plan[name] = min(left, free.times_covering(per_node))
        left -= plan[name]
    return plan


def fit(need: Need, nodes: Sequence[NodeView]) -> Fit | NoFit:
    """The plan for the task on its suitable nodes, up to its wanted pods; fewer than ``least`` is no fit."""
    if need.nodes == 0 or need.per_node == NOTHING:
        return Fit({})
    plan = fill(nodes, need.per_node, need.nodes)
    fits = sum(plan.values())
    if fits >= need.least:
        return Fit(plan)
    return NoFit(fits, free_of(nodes), most_free(nodes))


def free_of(nodes: Iterable[NodeView]) -> Bundle:
    """What is free on the nodes in all."""
    return sum((node.free for node in nodes), NOTHING)


def most_free(nodes: Sequence[NodeView]) -> Bundle:
    """The most of each quantity that a single node has free."""
    rooms = [node.free for node in nodes] or [NOTHING]
    return Bundle(
        Millicores(max(room.cpu for room in rooms)),
        MiB(max(room.memory for room in rooms)),
        Cards(max(room.cards for room in rooms)),
    )


def occupied(nodes: Sequence[NodeView], plan: Plan, per_node: Bundle) -> tuple[NodeView, ...]:
    """The same nodes after the plan's pods have gone there."""
    return tuple(
        replace(node, used=node.used + per_node * plan[node.name]) if node.name in plan else node for node in nodes
    )
