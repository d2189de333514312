"""All nodes by cluster and pool, as they stand after what this cycle admitted before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apps.kernel.resources import Bundle
from apps.scheduling.domain.fit import Fit, NoFit, Plan, fit, free_of, occupied, suitable
from apps.scheduling.domain.snapshot import Need, NodeView

Spot = tuple[int, int]
"""A cluster's and a pool's key."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """Whether a need fits a spot now, and what its suitable nodes have free in all."""

    outcome: Fit | NoFit
    free: Bundle


class Ground:
    """One cycle's nodes; asked the same of an unchanged spot it answers from memory: many like tasks cost one look."""

    def __init__(self, nodes: Iterable[NodeView]) -> None:
        places: dict[Spot, list[NodeView]] = {}
        for node in nodes:
            if node.pool_id is not None:
                places.setdefault((node.cluster_id, node.pool_id), []).append(node)
        self._places = {spot: tuple(found) for spot, found in places.items()}
        self._known: dict[Spot, dict[Need, Assessment | None]] = {spot: {} for spot in places}

    def assess(self, need: Need, spot: Spot) -> Assessment | None:
        """How the need fares at the spot; None where no node there could ever take it."""
        known = self._known.setdefault(spot, {})
        if need not in known:
            nodes = suitable(need, self._places.get(spot, ()))
            known[need] = Assessment(fit(need, nodes), free_of(nodes)) if nodes else None
        return known[need]

    def occupy(self, spot: Spot, plan: Plan, per_node: Bundle) -> None:
        """The plan's pods have gone to the spot's nodes."""
        self._places[spot] = occupied(self._places[spot], plan, per_node)
        self._known[spot] = {}
