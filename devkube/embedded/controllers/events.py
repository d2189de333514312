"""v1 Events: repeated ones are counted, old ones forgotten."""

import uuid
from collections import OrderedDict

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.errors import ApiError
from devkube.embedded.objects import Obj, copy, deleting, meta, name_of, namespace_of
from devkube.embedded.registry import DeleteOptions, Registry
from devkube.embedded.store import Change

MOST = 2000
SECONDS = 3600.0


class Recorder:
    """Writes events about objects; keeps at most `MOST` events of the last hour, whoever wrote them."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._known: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._age: OrderedDict[tuple[str, str], str] = OrderedDict()
        entries = sorted(registry.store.entries(r.EVENTS), key=lambda entry: entry.rv)
        for entry in entries:
            self._age[(namespace_of(entry.obj), name_of(entry.obj))] = _last(entry.obj)
        registry.store.listen(r.EVENTS, self._seen)

    def _seen(self, change: Change) -> None:
        key = (namespace_of(change.entry.obj), name_of(change.entry.obj))
        self._age.pop(key, None)
        if change.kind != "DELETED":
            self._age[key] = _last(change.entry.obj)

    def record(self, about: Obj, reason: str, message: str, *, warning: bool = False, by: str = "embedded") -> None:
        """Write or count up an event about an object."""
        self._forget()
        message = message[:1024]
        key = (meta(about)["uid"], reason, message, by)
        namespace = namespace_of(about) or "default"
        name = self._known.get(key)
        entry = self.registry.store.get(r.EVENTS, namespace, name) if name else None
        if entry is not None:
            event = copy(entry.obj)
            event["count"], event["lastTimestamp"] = event.get("count", 1) + 1, clock.stamp()
            self.registry.store.put(r.EVENTS, event)
            return
        space = self.registry.store.get(r.NAMESPACES, "", namespace)
        if space is None or deleting(space.obj):
            return
        self._write(about, key, namespace, "Warning" if warning else "Normal")

    def _write(self, about: Obj, key: tuple[str, str, str, str], namespace: str, kind: str) -> None:
        uid, reason, message, by = key
        now = clock.stamp()
        event: Obj = {
            "metadata": {"name": f"{name_of(about)[:200]}.{uuid.uuid4().hex[:16]}", "namespace": namespace},
            "involvedObject": {
                "kind": about["kind"],
                "namespace": namespace_of(about),
                "name": name_of(about),
                "uid": uid,
                "apiVersion": about["apiVersion"],
                "resourceVersion": meta(about).get("resourceVersion", ""),
            },
            "reason": reason,
            "message": message,
            "source": {"component": by},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": by,
            "reportingInstance": "",
        }
        if not namespace_of(about):
            del event["involvedObject"]["namespace"]
        try:
            made = self.registry.create(r.EVENTS, event)
        except ApiError:
            return  # The namespace went away, or the name cannot carry an event.
        self._known[key] = name_of(made)
        while len(self._known) > MOST:
            self._known.popitem(last=False)

    def _forget(self) -> None:
        oldest = clock.stamp(clock.later(-SECONDS))
        while self._age and (len(self._age) >= MOST or next(iter(self._age.values())) < oldest):
            (namespace, name), _ = self._age.popitem(last=False)
            entry = self.registry.store.get(r.EVENTS, namespace, name)
            if entry is not None:
                self.registry.delete(r.EVENTS, entry, DeleteOptions())


def _last(event: Obj) -> str:
    return str(event.get("lastTimestamp") or event["metadata"].get("creationTimestamp") or "")
