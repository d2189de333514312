"""Nodes as the scheduler sees them, and what stops a pod from going there. Pure."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from devkube.embedded.objects import Obj, name_of, spec, status
from devkube.embedded.quantities import number
from devkube.embedded.quota import pod_requests
from devkube.embedded.scheduler.affinity import node_wanted, untolerated

AFFINITY = "node(s) didn't match Pod's node affinity/selector"
NOT_NAMED = "node(s) didn't match the requested node name"
UNSCHEDULABLE = "node(s) were unschedulable"
NO_PORTS = "node(s) didn't have free ports for the requested pod ports"
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def demand(pod: Obj) -> dict[str, int]:
    """Return what a pod asks of its node, in thousandths."""
    return {key: math.ceil(value * 1000) for key, value in pod_requests(pod).items()}


def priority_of(pod: Obj) -> int:
    """Return spec.priority."""
    return int(spec(pod).get("priority", 0))


@dataclass(slots=True)
class Placed:
    """A pod on a node (or promised to it)."""

    pod: Obj
    needs: dict[str, int]


@dataclass(slots=True)
class NodeView:
    """A node with what is used of it."""

    node: Obj
    allocatable: dict[str, int]
    placed: list[Placed] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Name of the node."""
        return name_of(self.node)

    @property
    def taints(self) -> list[Obj]:
        """Taints of the node."""
        return spec(self.node).get("taints") or []

    def take(self, placed: Placed) -> None:
        """Count a pod in."""
        self.placed.append(placed)
        self.used.update(placed.needs)

    def give_back(self, placed: Placed) -> None:
        """Count a pod out."""
        self.placed.remove(placed)
        self.used.subtract(placed.needs)


def view_of(node: Obj) -> NodeView:
    """Return an empty node."""
    quantities = (status(node).get("allocatable") or status(node).get("capacity") or {}).items()
    return NodeView(node, {key: math.floor(number(value) * 1000) for key, value in quantities})


def fixed_reason(pod: Obj, view: NodeView) -> str:
    """Say what no departure of other pods would change; empty when nothing."""
    if spec(view.node).get("unschedulable") and untolerated(pod, [CORDON], ("NoSchedule",)):
        return UNSCHEDULABLE
    taint = untolerated(pod, view.taints, ("NoSchedule", "NoExecute"))
    if taint:
        return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    return "" if node_wanted(pod, view.node) else AFFINITY


def shortages(needs: dict[str, int], pod: Obj, view: NodeView) -> list[str]:
    """Say what the node has too little of at present."""
    found = []
    if (len(view.placed) + 1) * 1000 > view.allocatable.get("pods", 110_000):
        found.append("Too many pods")
    for key, amount in needs.items():
        if amount > 0 and amount > view.allocatable.get(key, 0) - view.used[key]:
            found.append(f"Insufficient {key}")
    if _ports(pod) & {port for each in view.placed for port in _ports(each.pod)}:
        found.append(NO_PORTS)
    return found


def never_fits(needs: dict[str, int], view: NodeView) -> bool:
    """True when even the empty node is too small."""
    return any(amount > view.allocatable.get(key, 0) for key, amount in needs.items())


def _ports(pod: Obj) -> set[tuple[str, int]]:
    containers: Iterable[Obj] = spec(pod).get("containers") or []
    host = spec(pod).get("hostNetwork")
    ports = [port for each in containers for port in each.get("ports") or []]
    numbers = [
        (str(port.get("protocol", "TCP")), port.get("hostPort") or (port["containerPort"] if host else 0))
        for port in ports
    ]
    return {each for each in numbers if each[1]}
