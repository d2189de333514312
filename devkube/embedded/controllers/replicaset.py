"""The ReplicaSet controller."""

from collections import Counter

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers.pod_control import create_pod, delete_pod, from_template, removal_rank
from devkube.embedded.controllers.runtime import Context, Queue, key_of
from devkube.embedded.objects import (
    Obj,
    condition,
    controller_of,
    copy,
    deleting,
    labels_of,
    meta,
    pod_finished,
    pod_ready,
    set_condition,
    spec,
    status,
    uid_of,
)
from devkube.embedded.store import Change, Key

BY = "replicaset-controller"
MOST_AT_ONCE = 500


def ready_since(pod: Obj) -> str:
    """Return when a ready pod became ready."""
    found = condition(pod, "Ready") or {}
    return str(found.get("lastTransitionTime") or meta(pod).get("creationTimestamp", ""))


class ReplicaSetController:
    """Keeps as many pods of a template as are wanted."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("replicaset", self.sync)
        context.store.listen(r.REPLICASETS, lambda change: self.queue.add(key_of(change.entry.obj)))
        context.store.listen(r.PODS, self._pod_changed)
        for entry in context.store.entries(r.REPLICASETS):
            self.queue.add(key_of(entry.obj))

    def _pod_changed(self, change: Change) -> None:
        owner = controller_of(change.entry.obj)
        if owner and owner["kind"] == "ReplicaSet":
            self.queue.add((meta(change.entry.obj)["namespace"], owner["name"]))

    def sync(self, key: Key) -> None:
        """Make one ReplicaSet's pods and status agree with its spec."""
        entry = self.context.store.get(r.REPLICASETS, *key)
        if entry is None:
            return
        replica_set = entry.obj
        owned = self.context.owned.controlled(uid_of(replica_set), r.PODS)
        live = [pod for pod in owned if not pod_finished(pod) and not deleting(pod)]
        failure = ""
        with self.context.store.batch():
            if not deleting(replica_set):
                failure = self._adjust(replica_set, live)
            owned = self.context.owned.controlled(uid_of(replica_set), r.PODS)
            self._report(replica_set, owned, failure)
        if failure:
            self.queue.retry(key)

    def _adjust(self, replica_set: Obj, live: list[Obj]) -> str:
        missing = spec(replica_set)["replicas"] - len(live)
        for _ in range(min(missing, MOST_AT_ONCE)):
            pod = from_template(replica_set, spec(replica_set)["template"])
            refused = create_pod(self.context, replica_set, pod, BY)
            if refused is not None:
                return refused.message
        if missing < 0:
            siblings = Counter(spec(pod).get("nodeName", "") for pod in self._siblings(replica_set, live))
            order = sorted(live, key=lambda pod: removal_rank(pod, siblings[spec(pod).get("nodeName", "")]))
            for pod in order[:-missing]:
                delete_pod(self.context, replica_set, pod, BY)
        return ""

    def _siblings(self, replica_set: Obj, live: list[Obj]) -> list[Obj]:
        owner = controller_of(replica_set)
        if owner is None:
            return live
        sets = self.context.owned.controlled(owner["uid"], r.REPLICASETS)
        pods = [pod for each in sets for pod in self.context.owned.controlled(uid_of(each), r.PODS)]
        return [pod for pod in pods if not pod_finished(pod) and not deleting(pod)]

    def _report(self, replica_set: Obj, owned: list[Obj], failure: str) -> None:
        live = [pod for pod in owned if not pod_finished(pod) and not deleting(pod)]
        ready = [pod for pod in live if pod_ready(pod)]
        labels = labels_of({"metadata": meta(spec(replica_set)["template"])}).items()
        wait = spec(replica_set).get("minReadySeconds", 0)
        now = clock.now()
        ages = [clock.seconds_since(ready_since(pod), now) for pod in ready]
        available = sum(age >= wait for age in ages)
        unripe = [wait - age for age in ages if age < wait]
        if unripe:
            self.queue.add(key_of(replica_set), min(unripe) + 0.05)
        new: Obj = {
            "replicas": len(live),
            "fullyLabeledReplicas": sum(labels <= labels_of(pod).items() for pod in live),
            "readyReplicas": len(ready),
            "availableReplicas": available,
            "terminatingReplicas": sum(deleting(pod) and not pod_finished(pod) for pod in owned),
            "observedGeneration": meta(replica_set).get("generation", 1),
        }
        kept = ("replicas", "terminatingReplicas", "observedGeneration")
        new = {key: value for key, value in new.items() if value or key in kept}
        self.context.registry.mutate(r.REPLICASETS, replica_set, lambda obj: _write(obj, new, failure))


def _write(obj: Obj, new: Obj, failure: str) -> None:
    conditions = copy(obj).get("status", {}).get("conditions", [])
    obj["status"] = new | ({"conditions": conditions} if conditions else {})
    # The message names a pod that was never made, another one each time: it alone is no news.
    if failure and not any(each.get("type") == "ReplicaFailure" for each in conditions):
        about = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": failure}
        set_condition(obj, about | {"lastTransitionTime": clock.stamp()})
    elif conditions and not failure:
        rest = [each for each in conditions if each.get("type") != "ReplicaFailure"]
        status(obj)["conditions"] = rest
        if not rest:
            del status(obj)["conditions"]
