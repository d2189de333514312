"""Writing a pod's place, or why it has none."""

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.objects import Obj, set_condition, spec, status
from devkube.embedded.registry import Registry


def _condition(kind: str, value: str, reason: str = "", message: str = "") -> Obj:
    made: Obj = {"type": kind, "status": value, "lastProbeTime": None, "lastTransitionTime": clock.stamp()}
    if reason:
        made |= {"reason": reason, "message": message}
    return made


def bind(registry: Registry, pod: Obj, node: str) -> Obj | None:
    """Put a pod on a node; None when the pod is gone."""

    def change(obj: Obj) -> None:
        spec(obj)["nodeName"] = node
        status(obj).pop("nominatedNodeName", None)
        set_condition(obj, _condition("PodScheduled", "True"))

    return registry.mutate(r.PODS, pod, change)


def not_bound(registry: Registry, pod: Obj, message: str, nominated: str, reason: str = "Unschedulable") -> bool:
    """Write why a pod waits; say whether that is news."""
    changed = False

    def change(obj: Obj) -> None:
        nonlocal changed
        changed = set_condition(obj, _condition("PodScheduled", "False", reason, message))
        if nominated:
            status(obj)["nominatedNodeName"] = nominated
        else:
            status(obj).pop("nominatedNodeName", None)

    registry.mutate(r.PODS, pod, change)
    return changed


def mark_disrupted(registry: Registry, pod: Obj, reason: str, message: str) -> Obj | None:
    """Say on a pod that something else than its own end takes it away."""

    def change(obj: Obj) -> None:
        set_condition(obj, _condition("DisruptionTarget", "True", reason, message))

    return registry.mutate(r.PODS, pod, change)
