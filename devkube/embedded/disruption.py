"""PodDisruptionBudgets: how many pods may go, and the eviction that asks."""

from collections.abc import Callable

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.errors import ApiError
from devkube.embedded.objects import (
    Obj,
    controller_of,
    deleting,
    labels_of,
    meta,
    name_of,
    namespace_of,
    pod_finished,
    pod_ready,
    spec,
    status,
)
from devkube.embedded.registry import Registry
from devkube.embedded.rules.workloads import share
from devkube.embedded.scheduler.binding import mark_disrupted
from devkube.embedded.selectors import from_object, labels_match
from devkube.embedded.store import Store


def _covered(budget: Obj, pod: Obj) -> bool:
    terms = from_object(spec(budget).get("selector"))
    return terms is not None and namespace_of(budget) == namespace_of(pod) and labels_match(terms, labels_of(pod))


def budgets_of(store: Store, pod: Obj) -> list[Obj]:
    """Return the budgets that cover a pod."""
    return [entry.obj for entry in store.entries(r.BUDGETS, namespace_of(pod)) if _covered(entry.obj, pod)]


def _expected(store: Store, pods: list[Obj]) -> int:
    """Count what the controllers of these pods want, single pods as themselves."""
    total = 0
    seen: set[str] = set()
    for pod in pods:
        owner = controller_of(pod)
        if owner is None:
            total += 1
        elif owner["uid"] not in seen:
            seen.add(owner["uid"])
            resource = {"ReplicaSet": r.REPLICASETS, "Job": r.JOBS}.get(owner["kind"])
            entry = store.get(resource, namespace_of(pod), owner["name"]) if resource else None
            body = spec(entry.obj) if entry else {}
            total += int(body.get("replicas", body.get("parallelism", 1)) or 0)
    return total


def numbers(store: Store, budget: Obj) -> Obj:
    """Return the status of a budget from the pods that are there."""
    pods = [pod for pod in store.objects(r.PODS, namespace_of(budget)) if _covered(budget, pod)]
    live = [pod for pod in pods if not pod_finished(pod)]
    healthy = sum(pod_ready(pod) and not deleting(pod) for pod in live)
    body = spec(budget)
    if "maxUnavailable" in body:
        expected = _expected(store, live)
        wanted = max(expected - share(body["maxUnavailable"], expected, up=True), 0)
    else:
        least = body.get("minAvailable", 1)
        expected = _expected(store, live) if isinstance(least, str) else len(live)
        wanted = share(least, expected, up=True)
    allowed = max(healthy - wanted, 0) if expected else 0
    return {
        "observedGeneration": meta(budget).get("generation", 1),
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": wanted,
        "expectedPods": expected,
        "conditions": [_condition(budget, allowed)],
    }


def _condition(budget: Obj, allowed: int) -> Obj:
    old: Obj = next(iter(status(budget).get("conditions") or []), {})
    value = "True" if allowed else "False"
    since = old.get("lastTransitionTime", clock.stamp()) if old.get("status") == value else clock.stamp()
    reason = "SufficientPods" if allowed else "InsufficientPods"
    made = {"type": "DisruptionAllowed", "status": value, "reason": reason, "message": "", "lastTransitionTime": since}
    return made | {"observedGeneration": meta(budget).get("generation", 1)}


def protected_by_budget(store: Store) -> Callable[[Obj], bool]:
    """Return the question whether removing a pod would violate a budget; each answer takes a place."""
    left = {meta(e.obj)["uid"]: numbers(store, e.obj)["disruptionsAllowed"] for e in store.entries(r.BUDGETS)}
    if not left:
        return lambda _: False
    return lambda pod: any(left[meta(budget)["uid"]] <= 0 for budget in budgets_of(store, pod))


def check_eviction(registry: Registry, pod: Obj, *, dry_run: bool) -> None:
    """Take a place in the budgets of a pod that is to be evicted; raises ApiError 429, 500."""
    if pod_finished(pod) or deleting(pod) or not spec(pod).get("nodeName"):
        return
    budgets = budgets_of(registry.store, pod)
    if len(budgets) > 1:
        why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise ApiError(500, "InternalError", why)
    for budget in budgets:
        state = numbers(registry.store, budget)
        spare = state["currentHealthy"] >= state["desiredHealthy"] and state["desiredHealthy"] > 0
        if not pod_ready(pod) and (spare or spec(budget).get("unhealthyPodEvictionPolicy") == "AlwaysAllow"):
            continue
        if state["disruptionsAllowed"] <= 0:
            raise _too_many(budget, state)
    if not dry_run:
        mark_disrupted(registry, pod, "EvictionByEvictionAPI", "Eviction API: evicting")


def _too_many(budget: Obj, state: Obj) -> ApiError:
    name, needs, has = name_of(budget), state["desiredHealthy"], state["currentHealthy"]
    text = f"The disruption budget {name} needs {needs} healthy pods and has {has} currently"
    cause = {"reason": "DisruptionBudget", "message": text}
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, "TooManyRequests", message, {"causes": [cause]})
