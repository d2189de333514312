"""Whom a pod may displace: on which node, and no more than needed. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from devkube.embedded.objects import Obj, deleting, meta, spec, status
from devkube.embedded.scheduler.fit import NodeView, Placed, fixed_reason, priority_of, shortages

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"


@dataclass(frozen=True, slots=True)
class Plan:
    """Remove `victims` from `node`."""

    node: str
    victims: tuple[Obj, ...]
    violations: int


def started(pod: Obj) -> str:
    """Return when a pod started, its creation when it has not."""
    return str(status(pod).get("startTime") or meta(pod).get("creationTimestamp", ""))


def plan_on(pod: Obj, needs: dict[str, int], view: NodeView, protected: Callable[[Obj], bool]) -> Plan | None:
    """Return the fewest victims on one node, the most important kept; None when the pod would not fit even so."""
    lower = [each for each in view.placed if priority_of(each.pod) < priority_of(pod)]
    if not lower:
        return None
    for each in lower:
        view.give_back(each)
    victims: list[Placed] = []
    fits = not shortages(needs, pod, view)
    if fits:
        lower.sort(key=lambda each: (not protected(each.pod), -priority_of(each.pod), started(each.pod)))
        for each in lower:
            view.take(each)
            if shortages(needs, pod, view):
                view.give_back(each)
                victims.append(each)
    for each in [one for one in lower if not fits or one in victims]:
        view.take(each)
    if not victims:
        return None
    return Plan(view.name, tuple(each.pod for each in victims), sum(protected(each.pod) for each in victims))


def plan(
    pod: Obj, needs: dict[str, int], views: list[NodeView], protected: Callable[[Obj], bool]
) -> tuple[Plan | None, str]:
    """Choose a node to make room on, or say in the real one's words why there is none."""
    if spec(pod).get("preemptionPolicy") == "Never":
        return None, "not eligible due to preemptionPolicy=Never."
    nominated = status(pod).get("nominatedNodeName")
    for view in views:
        if view.name == nominated and any(
            deleting(each.pod) and priority_of(each.pod) < priority_of(pod) for each in view.placed
        ):
            return None, "not eligible due to a terminating pod on the nominated node."
    plans: list[Plan] = []
    hopeless = without = 0
    for view in views:
        if fixed_reason(pod, view):
            hopeless += 1
        elif (found := plan_on(pod, needs, view, protected)) is not None:
            plans.append(found)
        else:
            without += 1
    if plans:
        return min(plans, key=_cost), ""
    parts = [f"{n} {why}" for n, why in ((hopeless, NOT_HELPFUL), (without, NO_VICTIMS)) if n]
    return None, f"0/{len(views)} nodes are available: {', '.join(sorted(parts))}."


def _cost(found: Plan) -> tuple[object, ...]:
    priorities = [priority_of(each) for each in found.victims]
    highest = max(priorities)
    earliest = min(started(each) for each in found.victims if priority_of(each) == highest)
    newest_first = tuple(-ord(letter) for letter in earliest)
    return found.violations, highest, sum(priorities), len(priorities), newest_first, found.node
