"""Takes pods off nodes that do not want them, and forgets pods whose node will not come back to end them."""

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers.nodes import added_at, node_lost
from devkube.embedded.controllers.runtime import Context, Queue, key_of
from devkube.embedded.objects import Obj, deleting, meta, name_of, namespace_of, spec
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.scheduler.affinity import tolerates
from devkube.embedded.scheduler.binding import mark_disrupted
from devkube.embedded.store import Change, Key

BY = "taint-eviction-controller"


class EvictionController:
    """NoExecute taints with tolerationSeconds; forced removal after `node_gone` seconds on a lost node."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("eviction", self.sync)
        self._homeless: dict[Key, float] = {}
        context.store.listen(r.NODES, self._node_changed)
        context.store.listen(r.PODS, self._pod_changed)
        for entry in context.store.entries(r.PODS):
            if spec(entry.obj).get("nodeName"):
                self.queue.add(key_of(entry.obj))

    def _node_changed(self, change: Change) -> None:
        before = change.before.obj if change.before else None
        gone = change.kind == "DELETED"
        if before is not None and not gone and spec(before).get("taints") == spec(change.entry.obj).get("taints"):
            return
        name = name_of(change.entry.obj)
        for pod in self.context.store.objects(r.PODS):
            if spec(pod).get("nodeName") == name:
                self.queue.add(key_of(pod))

    def _pod_changed(self, change: Change) -> None:
        pod, before = change.entry.obj, change.before.obj if change.before else None
        if change.kind == "DELETED":
            self._homeless.pop(key_of(pod), None)
            return
        if not spec(pod).get("nodeName"):
            return
        if before is None or spec(before) != spec(pod) or deleting(before) != deleting(pod):
            self.queue.add(key_of(pod))

    def sync(self, key: Key) -> None:
        """Judge one pod."""
        entry = self.context.store.get(r.PODS, *key)
        if entry is None or not spec(entry.obj).get("nodeName"):
            return
        pod = entry.obj
        found = self.context.store.get(r.NODES, "", spec(pod)["nodeName"])
        node = found.obj if found else None
        if node is None:
            self._forget_homeless(key, pod)
            return
        self._homeless.pop(key, None)
        if not deleting(pod):
            self._by_taints(key, pod, node)
        elif node_lost(node):
            self._force(key, pod)

    def _forget_homeless(self, key: Key, pod: Obj) -> None:
        """Remove a pod whose node does not exist, when it has not come back meanwhile."""
        since = self._homeless.setdefault(key, clock.monotonic())
        left = self.context.timing.node_gone - (clock.monotonic() - since)
        if left > 0:
            self.queue.add(key, left + 0.05)
            return
        del self._homeless[key]
        mark_disrupted(self.context.registry, pod, "DeletionByPodGC", "PodGC: node no longer exists")
        self._delete(key, 0)

    def _force(self, key: Key, pod: Obj) -> None:
        left = self.context.timing.node_gone - clock.seconds_since(meta(pod)["deletionTimestamp"], clock.now())
        if left > 0:
            self.queue.add(key, left + 0.05)
        else:
            self._delete(key, 0)

    def _delete(self, key: Key, grace: int | None) -> None:
        entry = self.context.store.get(r.PODS, *key)
        if entry is not None:
            self.context.registry.delete(r.PODS, entry, DeleteOptions(grace))

    def _by_taints(self, key: Key, pod: Obj, node: Obj) -> None:
        now, first = clock.now(), None
        for taint in spec(node).get("taints") or []:
            if taint["effect"] != "NoExecute":
                continue
            matching = [each for each in spec(pod).get("tolerations") or [] if tolerates(each, taint)]
            limits = [each["tolerationSeconds"] for each in matching if "tolerationSeconds" in each]
            if matching and not limits:
                continue
            left = min(limits) - clock.seconds_since(added_at(taint, node), now) if matching else 0.0
            first = left if first is None else min(first, left)
        if first is None:
            return
        if first > 0:
            self.queue.add(key, first + 0.05)
            return
        place = f"{namespace_of(pod)}/{name_of(pod)}"
        self.context.events.record(pod, "TaintManagerEviction", f"Marking for deletion Pod {place}", by=BY)
        text = "Taint manager: deleting due to NoExecute taint"
        mark_disrupted(self.context.registry, pod, "DeletionByTaintManager", text)
        self._delete(key, None)
