"""The status and conditions of a Deployment."""

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers import rollout
from devkube.embedded.controllers.runtime import Context
from devkube.embedded.objects import Obj, condition, copy, meta, name_of, spec, status, uid_of


def _set(obj: Obj, kind: str, value: str, reason: str, message: str) -> None:
    """Set a condition; lastUpdateTime moves with the reason, lastTransitionTime with the status."""
    now = clock.stamp()
    new = {"type": kind, "status": value, "lastUpdateTime": now, "lastTransitionTime": now}
    new |= {"reason": reason, "message": message}
    old = condition(obj, kind)
    conditions = status(obj).setdefault("conditions", [])
    if old is None:
        conditions.append(new)
        return
    if [old.get(key) for key in ("status", "reason", "message")] == [value, reason, message]:
        return
    if old.get("status") == value:
        new["lastTransitionTime"] = old.get("lastTransitionTime", now)
    conditions[conditions.index(old)] = new


def made(context: Context, deployment: Obj, replica_set: Obj) -> None:
    """Say that a new ReplicaSet was made."""
    text = f'Created new replica set "{name_of(replica_set)}"'

    def change(obj: Obj) -> None:
        _set(obj, "Progressing", "True", "NewReplicaSetCreated", text)

    context.registry.mutate(r.DEPLOYMENTS, deployment, change)


def report(context: Context, deployment: Obj, new: Obj | None, sets: list[Obj]) -> float:
    """Write the status; returns the seconds until the progress deadline has to be looked at, 0 when it has not."""
    waits: list[float] = []

    def change(obj: Obj) -> None:
        waits.append(_write(obj, new, sets))

    context.registry.mutate(r.DEPLOYMENTS, deployment, change)
    return waits[0] if waits else 0.0


def _write(obj: Obj, new: Obj | None, sets: list[Obj]) -> float:
    before = copy(obj).get("status", {})
    status(obj).update(_numbers(obj, new, sets))
    for key in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"):
        if not status(obj).get(key):
            status(obj).pop(key, None)
    _availability(obj)
    _replica_failure(obj, new, sets)
    return _progress(obj, before, new)


def _numbers(deployment: Obj, new: Obj | None, sets: list[Obj]) -> Obj:
    def total(key: str) -> int:
        return sum(status(each).get(key, 0) for each in sets)

    available = total("availableReplicas")
    return {
        "observedGeneration": meta(deployment).get("generation", 1),
        "replicas": total("replicas"),
        "updatedReplicas": status(new).get("replicas", 0) if new else 0,
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(sum(rollout.wanted(each) for each in sets) - available, 0),
        "terminatingReplicas": total("terminatingReplicas"),
    }


def _availability(deployment: Obj) -> None:
    least = spec(deployment)["replicas"] - rollout.bounds(deployment)[1]
    if status(deployment).get("availableReplicas", 0) >= least:
        text = "Deployment has minimum availability."
        _set(deployment, "Available", "True", "MinimumReplicasAvailable", text)
    else:
        text = "Deployment does not have minimum availability."
        _set(deployment, "Available", "False", "MinimumReplicasUnavailable", text)


def _replica_failure(deployment: Obj, new: Obj | None, sets: list[Obj]) -> None:
    order = sorted(sets, key=lambda each: new is None or uid_of(each) != uid_of(new))
    failed = [found for each in order if (found := condition(each, "ReplicaFailure"))]
    if failed:
        _set(deployment, "ReplicaFailure", "True", failed[0].get("reason", ""), failed[0].get("message", ""))
        return
    kept = [each for each in status(deployment)["conditions"] if each.get("type") != "ReplicaFailure"]
    status(deployment)["conditions"] = kept


def _progress(deployment: Obj, before: Obj, new: Obj | None) -> float:
    state = status(deployment)
    name = f'ReplicaSet "{name_of(new)}"' if new else f'Deployment "{name_of(deployment)}"'
    found = condition(deployment, "Progressing")
    done_before = found is not None and found.get("reason") == "NewReplicaSetAvailable"
    resting = state.get("replicas", 0) == state.get("updatedReplicas", 0) and done_before
    if rollout.complete(deployment, state):
        _set(deployment, "Progressing", "True", "NewReplicaSetAvailable", f"{name} has successfully progressed.")
        return 0.0
    if spec(deployment).get("paused"):
        _set(deployment, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
        return 0.0
    if resting:
        return 0.0  # A finished rollout whose pods fail later has not stopped progressing.
    fresh = found is None or found.get("reason") in ("NewReplicaSetAvailable", "DeploymentPaused")
    if fresh or _advanced(before, state):
        _renew(deployment, name)
    return _time_left(deployment, name)


def _time_left(deployment: Obj, name: str) -> float:
    """Return the seconds until the progress deadline; when it has passed, say so in the condition."""
    found = condition(deployment, "Progressing") or {}
    if found.get("reason") == "ProgressDeadlineExceeded":
        return 0.0
    left = spec(deployment)["progressDeadlineSeconds"] - clock.seconds_since(found.get("lastUpdateTime"), clock.now())
    if left > 0:
        return float(left) + 0.5
    _set(deployment, "Progressing", "False", "ProgressDeadlineExceeded", f"{name} has timed out progressing.")
    return 0.0


def _renew(deployment: Obj, name: str) -> None:
    """Restart the clock of the progress deadline."""
    _set(deployment, "Progressing", "True", "ReplicaSetUpdated", f"{name} is progressing.")
    found = condition(deployment, "Progressing")
    if found is not None:
        found["lastUpdateTime"] = clock.stamp()


def _advanced(before: Obj, after: Obj) -> bool:
    """True when more pods are new, ready or available than before, or fewer old ones are left."""
    rose = any(after.get(k, 0) > before.get(k, 0) for k in ("updatedReplicas", "readyReplicas", "availableReplicas"))
    old = [each.get("replicas", 0) - each.get("updatedReplicas", 0) for each in (before, after)]
    return rose or old[1] < old[0]
