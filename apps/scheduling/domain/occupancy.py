"""What admitted tasks take of each node: pods seen there, and planned ones not seen yet (domain.md §7, F03, F07)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from apps.kernel.resources import NOTHING, Bundle
from apps.scheduling.domain.fit import Plan, fill, occupied, suitable
from apps.scheduling.domain.snapshot import Need, NodeView


@dataclass(frozen=True, slots=True)
class Tenant:
    """One attempt on a cluster: its present pods by node, and how many are ``done`` (succeeded, not replaced).

    ``expects`` is False once nothing new of it will start (paused, queued again, over): then only what is seen counts.
    """

    cluster_id: int
    pool_id: int
    need: Need
    planned: Plan = field(default_factory=dict)
    seen: Plan = field(default_factory=dict)
    done: int = 0
    expects: bool = True


def unseen(tenant: Tenant) -> dict[str, int]:
    """The planned pods that have not shown up, by planned node; pods seen elsewhere stand for planned ones."""
    missing = tenant.need.nodes - tenant.done - sum(tenant.seen.values())
    left: dict[str, int] = {}
    if not tenant.expects:
        return left
    for node in sorted(tenant.planned):
        count = min(max(0, missing), tenant.planned[node] - tenant.seen.get(node, 0))
        if count > 0:
            left[node] = count
            missing -= count
    return left


def occupy(nodes: Iterable[NodeView], tenants: Sequence[Tenant]) -> tuple[NodeView, ...]:
    """The nodes with every tenant's use: seen and planned pods first, then room for instances still to come.

    A Deployment that began with fewer than it wants takes the rest as capacity comes, before new tasks do.
    """
    use: dict[tuple[int, str], Bundle] = {}
    for tenant in tenants:
        for name, count in (Counter(tenant.seen) + Counter(unseen(tenant))).items():
            spot = (tenant.cluster_id, name)
            use[spot] = use.get(spot, NOTHING) + tenant.need.per_node * count
    places: dict[tuple[int, int | None], tuple[NodeView, ...]] = {}
    for node in nodes:
        spot = (node.cluster_id, node.name)
        used = replace(node, used=node.used + use[spot]) if spot in use else node
        places[node.cluster_id, node.pool_id] = (*places.get((node.cluster_id, node.pool_id), ()), used)
    for tenant in tenants:
        home = (tenant.cluster_id, tenant.pool_id)
        if home in places and (plan := _to_come(tenant, places[home])):
            places[home] = occupied(places[home], plan, tenant.need.per_node)
    return tuple(node for place in places.values() for node in place)


def _to_come(tenant: Tenant, place: Sequence[NodeView]) -> Plan:
    known = tenant.done + sum(tenant.seen.values()) + sum(unseen(tenant).values())
    missing = tenant.need.nodes - known
    if not tenant.expects or missing <= 0 or tenant.need.per_node == NOTHING:
        return {}
    return fill(suitable(tenant.need, place), tenant.need.per_node, missing)
