"""ResourceQuota: what a namespace uses, and the refusal when a new object would take it over the limit."""

from collections import Counter
from fractions import Fraction

from devkube.embedded import resources as r
from devkube.embedded.errors import ApiError, forbidden
from devkube.embedded.objects import Obj, containers_of, name_of, pod_finished, spec
from devkube.embedded.quantities import number, write
from devkube.embedded.rules.pods import is_extended
from devkube.embedded.store import Store

type_counts = {
    resource.key: (resource.plural, f"count/{resource.qualified}") for resource in r.NAMESPACED if resource.group == ""
} | {resource.key: (f"count/{resource.qualified}",) for resource in r.NAMESPACED if resource.group}


def pod_requests(pod: Obj, part: str = "requests") -> Counter[str]:
    """Sum a pod's requests (or limits): containers and sidecars added, plain init containers by their largest."""
    total: dict[str, Fraction] = {}
    for container in spec(pod).get("containers") or []:
        _add(total, container, part)
    sidecars: dict[str, Fraction] = {}
    peak: dict[str, Fraction] = {}
    for container in spec(pod).get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            _add(sidecars, container, part)
            step = dict(sidecars)
        else:
            step = dict(sidecars)
            _add(step, container, part)
        peak = {key: max(peak.get(key, Fraction(0)), step.get(key, Fraction(0))) for key in {*peak, *step}}
    for key, value in sidecars.items():
        total[key] = total.get(key, Fraction(0)) + value
    merged = {key: max(total.get(key, Fraction(0)), peak.get(key, Fraction(0))) for key in {*total, *peak}}
    for key, value in (spec(pod).get("overhead") or {}).items():
        merged[key] = merged.get(key, Fraction(0)) + number(value)
    return Counter(merged)


def _add(total: dict[str, Fraction], container: Obj, part: str) -> None:
    for key, value in ((container.get("resources") or {}).get(part) or {}).items():
        total[key] = total.get(key, Fraction(0)) + number(value)


def _use_of(resource: r.Resource, obj: Obj) -> dict[str, Fraction]:
    used = {key: Fraction(1) for key in type_counts[resource.key]}
    if resource is r.CLAIMS:
        asked = ((spec(obj).get("resources") or {}).get("requests") or {}).get("storage")
        used["requests.storage"] = number(asked)
        if name := spec(obj).get("storageClassName"):
            used[f"{name}.storageclass.storage.k8s.io/requests.storage"] = number(asked)
    if resource is r.PODS:
        if pod_finished(obj):
            return {"count/pods": Fraction(1)}
        for part in ("requests", "limits"):
            for key, value in pod_requests(obj, part).items():
                if part == "requests" or not is_extended(key):
                    used[f"{part}.{key}"] = Fraction(value)
                if part == "requests" and key in ("cpu", "memory", "ephemeral-storage"):
                    used[key] = Fraction(value)
    return used


def _in_scope(quota: Obj, resource: r.Resource, obj: Obj) -> bool:
    body = spec(quota)
    terms: list[tuple[str, str, list[str]]] = [(scope, "Exists", []) for scope in body.get("scopes") or []]
    chosen = (body.get("scopeSelector") or {}).get("matchExpressions") or []
    terms += [(each.get("scopeName", ""), each.get("operator", ""), each.get("values") or []) for each in chosen]
    if terms and resource is not r.PODS:
        return False
    return all(_scope_holds(obj, *term) for term in terms)


def _scope_holds(pod: Obj, scope: str, operator: str, values: list[str]) -> bool:
    if scope == "PriorityClass":
        name = spec(pod).get("priorityClassName", "")
        found = {"In": name in values, "NotIn": name not in values, "Exists": bool(name), "DoesNotExist": not name}
        return found.get(operator, False)
    best_effort = not (pod_requests(pod) or pod_requests(pod, "limits"))
    limited = "activeDeadlineSeconds" in spec(pod)
    holds = {"BestEffort": best_effort, "NotBestEffort": not best_effort}
    return {**holds, "Terminating": limited, "NotTerminating": not limited}.get(scope, False)


def used(store: Store, quota: Obj) -> dict[str, str]:
    """Return status.used of a quota from the objects that are there."""
    namespace, hard = quota["metadata"]["namespace"], spec(quota).get("hard") or {}
    total = dict.fromkeys(hard, Fraction(0))
    for resource in r.NAMESPACED:
        if not any(_concerns(resource, key) for key in hard):
            continue
        for obj in store.objects(resource, namespace):
            if _in_scope(quota, resource, obj):
                for key, value in _use_of(resource, obj).items():
                    if key in total:
                        total[key] += value
    return {key: write(value, like=hard[key]) for key, value in total.items()}


def _concerns(resource: r.Resource, key: str) -> bool:
    if key in type_counts[resource.key]:
        return True
    if resource is r.CLAIMS:
        return key.endswith("requests.storage")
    return resource is r.PODS and not key.startswith("count/")


def admit(store: Store, resource: r.Resource, obj: Obj) -> None:
    """Refuse a new object that would exceed a quota of its namespace; raises ApiError 403."""
    namespace = obj["metadata"]["namespace"]
    for entry in store.entries(r.QUOTAS, namespace):
        quota = entry.obj
        if _in_scope(quota, resource, obj):
            refusal = _refusal(store, quota, resource, obj)
            if refusal:
                raise refusal


def _refusal(store: Store, quota: Obj, resource: r.Resource, obj: Obj) -> ApiError | None:
    hard = spec(quota).get("hard") or {}
    delta = {key: value for key, value in _use_of(resource, obj).items() if key in hard and value > 0}
    if resource is r.PODS and (missing := _unspecified(hard, obj)):
        return forbidden(resource, name_of(obj), f"failed quota: {name_of(quota)}: must specify {missing}")
    if not delta:
        return None
    now = used(store, quota)
    over = sorted(key for key, value in delta.items() if number(now[key]) + value > number(hard[key]))
    if not over:
        return None
    asked = ",".join(f"{key}={write(delta[key], like=hard[key])}" for key in over)
    have = ",".join(f"{key}={now[key]}" for key in over)
    most = ",".join(f"{key}={hard[key]}" for key in over)
    why = f"exceeded quota: {name_of(quota)}, requested: {asked}, used: {have}, limited: {most}"
    return forbidden(resource, name_of(obj), why)


def _unspecified(hard: Obj, pod: Obj) -> str:
    missing = []
    for key in sorted(hard):
        part, _, name = key.partition(".") if "." in key else ("requests", "", key)
        if part not in ("requests", "limits") or name not in ("cpu", "memory"):
            continue
        without = [
            container["name"]
            for container in containers_of(spec(pod))
            if name not in ((container.get("resources") or {}).get(part) or {})
        ]
        if without:
            missing.append(f"{key} for: {','.join(without)}")
    return "; ".join(missing)
