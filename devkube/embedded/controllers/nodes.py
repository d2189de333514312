"""The life of nodes: silence makes them unknown, taints follow the Ready condition."""

from functools import partial

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context, Queue
from devkube.embedded.objects import Obj, condition, meta, name_of, namespace_of, pod_ready, set_condition, spec, status
from devkube.embedded.store import Change

BY = "node-controller"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
LEASES = "kube-node-lease"
SILENT = "Kubelet stopped posting node status."


class NodeController:
    """Watches leases and heartbeats by its own clock, so a restart gives every node a fresh grace."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[str] = Queue("node", self.sync)
        self._heard: dict[str, float] = {}
        context.store.listen(r.NODES, self._node_changed)
        context.store.listen(r.LEASES, self._lease_changed)
        for entry in context.store.entries(r.NODES):
            self._hear(name_of(entry.obj))

    def _hear(self, name: str) -> None:
        self._heard[name] = clock.monotonic()
        self.queue.add(name)

    def _node_changed(self, change: Change) -> None:
        node, name = change.entry.obj, name_of(change.entry.obj)
        if change.kind == "DELETED":
            self._heard.pop(name, None)
            return
        if change.before is None or _heartbeat(change.before.obj) != _heartbeat(node):
            self._hear(name)
        else:
            self.queue.add(name)

    def _lease_changed(self, change: Change) -> None:
        name = name_of(change.entry.obj)
        if namespace_of(change.entry.obj) == LEASES and change.kind != "DELETED" and name in self._heard:
            self._heard[name] = clock.monotonic()

    def sync(self, name: str) -> None:
        """Judge one node."""
        entry = self.context.store.get(r.NODES, "", name)
        if entry is None:
            return
        silence = clock.monotonic() - self._heard.setdefault(name, clock.monotonic())
        left = self.context.timing.node_grace - silence
        if left <= 0:
            self._lose(entry.obj)
        else:
            self.queue.add(name, left + 0.05)
        self._taint(name)

    def _lose(self, node: Obj) -> None:
        ready = condition(node, "Ready")
        if ready is not None and ready.get("status") == "Unknown":
            return
        now = clock.stamp()

        def change(obj: Obj) -> None:
            for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"):
                old = condition(obj, kind) or {}
                reason = ("NodeStatusUnknown", SILENT)
                if not old:
                    reason = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
                new = {"type": kind, "status": "Unknown", "reason": reason[0], "message": reason[1]}
                new |= {"lastTransitionTime": now, "lastHeartbeatTime": old.get("lastHeartbeatTime", now)}
                set_condition(obj, new)

        lost = self.context.registry.mutate(r.NODES, node, change)
        if lost is None:
            return
        text = f"Node {name_of(node)} status is now: NodeNotReady"
        self.context.events.record(lost, "NodeNotReady", text, by=BY)
        self._unready_pods(name_of(node))

    def _unready_pods(self, name: str) -> None:
        """Pods of a lost node are no longer counted as ready."""
        for pod in [each for each in self.context.store.objects(r.PODS) if spec(each).get("nodeName") == name]:
            if pod_ready(pod):
                new = {"type": "Ready", "status": "False", "lastProbeTime": None, "lastTransitionTime": clock.stamp()}
                self.context.registry.mutate(r.PODS, pod, partial(_unready, new=new))

    def _taint(self, name: str) -> None:
        entry = self.context.store.get(r.NODES, "", name)
        if entry is None:
            return
        ready = (condition(entry.obj, "Ready") or {}).get("status")
        key = {"True": "", "Unknown": UNREACHABLE}.get(str(ready), NOT_READY)
        wanted = [(key, "NoSchedule"), (key, "NoExecute")] if key else []
        if ready is None:
            wanted = [(NOT_READY, "NoSchedule")]

        def change(obj: Obj) -> None:
            taints = spec(obj).get("taints") or []
            kept = [
                each
                for each in taints
                if each["key"] not in (NOT_READY, UNREACHABLE) or (each["key"], each["effect"]) in wanted
            ]
            have = {(each["key"], each["effect"]) for each in kept}
            for each, effect in wanted:
                if (each, effect) not in have:
                    kept.append({"key": each, "effect": effect, "timeAdded": clock.stamp()})
            spec(obj)["taints"] = kept
            if not kept:
                del spec(obj)["taints"]

        self.context.registry.mutate(r.NODES, entry.obj, change)


def _unready(obj: Obj, *, new: Obj) -> None:
    set_condition(obj, new)


def _heartbeat(node: Obj) -> tuple[object, ...]:
    ready = condition(node, "Ready") or {}
    return ready.get("lastHeartbeatTime"), ready.get("status"), len(status(node).get("conditions") or [])


def node_lost(node: Obj | None) -> bool:
    """True for a node that is gone or has fallen silent."""
    return node is None or (condition(node, "Ready") or {}).get("status") == "Unknown"


def added_at(taint: Obj, node: Obj) -> str:
    """Return since when a taint stands."""
    return str(taint.get("timeAdded") or meta(node).get("creationTimestamp", ""))
