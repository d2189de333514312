"""The gateway's port in memory, for tests: an API server's manners; tests step the controllers by hand."""

from __future__ import annotations

import copy
import itertools
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from apps.clusters.domain.survey import Failure, Survey
from apps.clusters.gateway.kube.errors import NAMESPACE_TERMINATING
from apps.clusters.gateway.kube.translate import CLUSTER_WIDE, plain
from apps.clusters.gateway.labels import labels_of, same_owner
from apps.clusters.gateway.memory_rules import (
    Entry,
    as_watched,
    check_precondition,
    grace_of,
    merged,
    name_of,
    owned,
    selected,
    validate,
)
from apps.clusters.gateway.port import (
    Change,
    ClusterFacts,
    Conflict,
    GatewayError,
    Gone,
    LogQuery,
    Manifest,
    ObjectRef,
    Page,
    Resource,
    Transient,
    WatchEvent,
)

Key = tuple[Resource, str, str]


class MemoryGateway:
    """One cluster in memory. Beside the port it has controls: fail_next, go_dead, revive, compact, put, finish."""

    def __init__(
        self, *, history: int = 1000, version: str = "v1.37.2", capabilities: frozenset[str] | None = None
    ) -> None:
        self._lock = threading.Condition()
        self._objects: dict[Key, dict[str, Any]] = {}
        self._history: deque[Entry] = deque(maxlen=history)
        self._counter = itertools.count(1)
        self._now = 0
        self._oldest = 0
        self._failures: deque[tuple[str | None, BaseException]] = deque()
        self._dead: BaseException | None = None
        self._facts = ClusterFacts(version, capabilities or frozenset({"v1", "apps/v1", "batch/v1"}))
        self.logs_by_container: dict[tuple[str, str], bytes] = {}
        self.calls: list[str] = []

    # The port.

    def facts(self) -> ClusterFacts:
        self._called("facts")
        return self._facts

    def survey(self, *, full: bool = True) -> Survey:
        try:
            self._called("survey")
        except GatewayError as error:
            return Survey(reached=Failure("no_answer", str(error)))
        version, groups = self._facts.version, self._facts.capabilities
        if not full:
            return Survey("memory", version=version, groups=groups, skew=0)
        classes, storage, nodes = map(self.everything, (Resource.PRIORITY_CLASS, Resource.STORAGE_CLASS, Resource.NODE))
        return Survey("memory", None, None, "token", None, version, groups, (), classes, storage, nodes, 0)

    def create(self, resource: Resource, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        body = plain(manifest)
        self._called(f"create {resource.value} {name_of(body)}")
        with self._lock:
            key = _key(resource, body)
            self._check_namespace(key)
            standing = self._objects.get(key)
            if standing is not None:
                if same_owner(standing, body):
                    return copy.deepcopy(standing)
                raise Conflict(f'{resource.value} "{key[2]}" already exists', 409, "AlreadyExists")
            validate(resource, body)
            if resource is not Resource.NODE:
                body.pop("status", None)
            body["metadata"] |= {"uid": f"uid-{next(self._counter)}", "generation": 1}
            if dry_run:
                return body
            return self._store(key, body, Change.ADDED)

    def read(self, ref: ObjectRef) -> Manifest | None:
        self._called(f"read {ref.resource.value} {ref.name}")
        with self._lock:
            return copy.deepcopy(self._objects.get((ref.resource, ref.namespace, ref.name)))

    def replace(self, ref: ObjectRef, manifest: Manifest) -> Manifest:
        body = plain(manifest)
        self._called(f"replace {ref.resource.value} {ref.name}")
        with self._lock:
            standing = self._standing(ref)
            check_precondition(standing, body)
            return self._change(ref, standing, body | {"status": standing.get("status", {})})

    def merge(self, ref: ObjectRef, patch: Manifest) -> Manifest:
        self._called(f"merge {ref.resource.value} {ref.name}")
        with self._lock:
            standing = self._standing(ref)
            written = {key: value for key, value in plain(patch).items() if key != "status"}
            check_precondition(standing, written, patched=True)
            return self._change(ref, standing, merged(standing, written))

    def delete(self, ref: ObjectRef, *, uid: str | None = None, grace_seconds: int | None = None) -> None:
        self._called(f"delete {ref.resource.value} {ref.name}")
        with self._lock:
            key = (ref.resource, ref.namespace, ref.name)
            standing = self._objects.get(key)
            if standing is None or (uid and standing["metadata"]["uid"] != uid):
                return
            self._let_go(key, standing, grace_seconds)

    def list(self, resource: Resource, *, namespace: str = "", selector: Mapping[str, str] | str | None = None) -> Page:
        self._called(f"list {resource.value}")
        selected({}, selector)
        with self._lock:
            found = [
                copy.deepcopy(item)
                for (stored, space, _name), item in sorted(self._objects.items())
                if stored is resource and namespace in ("", space) and selected(item, selector)
            ]
            return Page(found, str(self._now))

    def watch(
        self, resource: Resource, version: str, *, selector: str | None = None, seconds: float = 60
    ) -> Iterator[WatchEvent]:
        self._called(f"watch {resource.value}")
        seen, told = int(version), ""
        deadline = threading.TIMEOUT_MAX if seconds > 3600 else seconds
        while True:
            with self._lock:
                self._check_version(seen)
                fresh = [entry for entry in self._history if entry.version > seen]
                if not fresh and not self._lock.wait_for(partial(self._moved, self._now), timeout=deadline):
                    if told:
                        yield WatchEvent(Change.BOOKMARK, {"metadata": {"resourceVersion": told}}, told)
                    return
                self._fail_if_dead()
            for entry in fresh:
                seen = entry.version
                told = str(seen) if entry.resource is resource else told
                if entry.resource is resource and (event := as_watched(entry, selector)):
                    yield event
            if seconds <= 0 and not fresh:
                return

    def logs(self, query: LogQuery) -> Iterator[bytes]:
        self._called(f"logs {query.pod.name}")
        text = self.logs_by_container.get((query.pod.name, query.container))
        if text is None:
            raise Gone(f'pods "{query.pod.name}" not found', 404, "NotFound")
        yield text

    # Controls for tests.

    def fail_next(self, error: BaseException, *, call: str | None = None, times: int = 1) -> None:
        """Let the next calls (those whose words begin with ``call``) raise instead of doing anything."""
        self._failures.extend([(call, error)] * times)

    def go_dead(self, error: BaseException | None = None) -> None:
        """Answer nothing until ``revive``: every call and every open watch ends as a time-out does."""
        with self._lock:
            self._dead = error or Transient("no answer: timed out")
            self._lock.notify_all()

    def revive(self) -> None:
        with self._lock:
            self._dead = None

    def compact(self) -> None:
        """Forget the watch history, as etcd does: older versions answer Gone."""
        with self._lock:
            self._now = next(self._counter)
            self._history.clear()
            self._oldest = self._now
            self._lock.notify_all()

    def put(self, resource: Resource, manifest: Manifest) -> dict[str, Any]:
        """Set an object as a controller would, status included, past every rule; keeps its uid if it has one."""
        body = plain(manifest)
        with self._lock:
            key = _key(resource, body)
            standing = self._objects.get(key)
            kept = {"uid": standing["metadata"]["uid"]} if standing else {"uid": f"uid-{next(self._counter)}"}
            body["metadata"] = kept | body["metadata"]
            return self._store(key, body, Change.MODIFIED if standing else Change.ADDED)

    def set_pod(self, namespace: str, name: str, *, owner: Manifest | None = None, **fields: Any) -> dict[str, Any]:
        """Create or change a pod as kubelet and controllers do; ``owner``'s template labels come with it."""
        with self._lock:
            pod = copy.deepcopy(self._objects.get((Resource.POD, namespace, name))) or {}
            pod = merged({"metadata": {"name": name, "namespace": namespace}} | pod, owned(owner) if owner else {})
            return self.put(Resource.POD, merged(pod, fields))

    def set_status(self, ref: ObjectRef, status: Manifest) -> dict[str, Any]:
        """Merge into an object's status, as its controller does."""
        with self._lock:
            return self.put(ref.resource, merged(self._standing(ref), {"status": plain(status)}))

    def finish(self, ref: ObjectRef) -> None:
        """Remove an object at once, as when its grace period ends."""
        with self._lock:
            self._remove((ref.resource, ref.namespace, ref.name))

    def finish_terminating(self) -> None:
        """Let what is under removal go as far as no finalizer holds it, with what stood in removed namespaces."""
        with self._lock:
            for key, item in list(self._objects.items()):
                about = item["metadata"]
                if key[0] is Resource.NAMESPACE and about.get("deletionTimestamp"):
                    self._empty(key[2])
                elif key in self._objects and not about.get("finalizers") and self._is_over(about):
                    self._remove(key)

    def _is_over(self, about: Mapping[str, Any]) -> bool:
        """Under removal, or owned by nobody who is there."""
        uids = {item["metadata"]["uid"] for item in self._objects.values()}
        owners = [owner.get("uid") for owner in about.get("ownerReferences") or []]
        return bool(about.get("deletionTimestamp")) or (bool(owners) and not uids & set(owners))

    def _empty(self, namespace: str) -> None:
        inside = [key for key in self._objects if key[1] == namespace]
        for key in inside:
            if key in self._objects:
                self._let_go(key, self._objects[key], 0)
        if not any(key[1] == namespace for key in self._objects):
            self._remove((Resource.NAMESPACE, "", namespace))

    def everything(self, resource: Resource) -> Sequence[dict[str, Any]]:
        """The stored objects of a kind, without counting as a call."""
        with self._lock:
            return [copy.deepcopy(item) for key, item in sorted(self._objects.items()) if key[0] is resource]

    # Inside.

    def _called(self, words: str) -> None:
        self.calls.append(words)
        with self._lock:
            self._fail_if_dead()
            for place, (call, error) in enumerate(self._failures):
                if call is None or words.startswith(call):
                    del self._failures[place]
                    raise error

    def _fail_if_dead(self) -> None:
        if self._dead is not None:
            raise self._dead

    def _moved(self, since: int) -> bool:
        return self._now != since or self._dead is not None

    def _check_version(self, version: int) -> None:
        lost = self._history[0].version if len(self._history) == self._history.maxlen else 0
        if version < max(self._oldest, lost - 1):
            raise Gone(f"too old resource version: {version}", 410, "Expired")

    def _check_namespace(self, key: Key) -> None:
        resource, namespace, name = key
        if resource in CLUSTER_WIDE:
            return
        space = self._objects.get((Resource.NAMESPACE, "", namespace))
        if space is None:
            raise Gone(f'namespaces "{namespace}" not found', 404, "NotFound")
        if space["metadata"].get("deletionTimestamp"):
            message = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise Transient(f'{resource.value} "{name}" is forbidden: {message}', 403, NAMESPACE_TERMINATING)

    def _standing(self, ref: ObjectRef) -> dict[str, Any]:
        standing = self._objects.get((ref.resource, ref.namespace, ref.name))
        if standing is None:
            raise Gone(f'{ref.resource.value} "{ref.name}" not found', 404, "NotFound")
        return standing

    def _change(self, ref: ObjectRef, standing: dict[str, Any], wanted: dict[str, Any]) -> Manifest:
        validate(ref.resource, wanted, standing)
        if wanted == standing:
            return copy.deepcopy(standing)
        kept = {key: standing["metadata"][key] for key in ("uid", "generation") if key in standing["metadata"]}
        wanted["metadata"] = wanted["metadata"] | kept
        if wanted.get("spec") != standing.get("spec"):
            wanted["metadata"]["generation"] = kept.get("generation", 1) + 1
        key = (ref.resource, ref.namespace, ref.name)
        stored = self._store(key, wanted, Change.MODIFIED)
        about = stored["metadata"]
        if standing["metadata"].get("finalizers") and not about.get("finalizers") and _at_end(about):
            self._remove(key)
        return stored

    def _store(self, key: Key, body: dict[str, Any], change: Change) -> dict[str, Any]:
        was = labels_of(self._objects[key]) if key in self._objects else None
        self._now = next(self._counter)
        body["metadata"]["resourceVersion"] = str(self._now)
        self._objects[key] = body
        self._history.append(Entry(self._now, key[0], change, copy.deepcopy(body), was))
        self._lock.notify_all()
        return copy.deepcopy(body)

    def _let_go(self, key: Key, standing: dict[str, Any], grace_seconds: int | None) -> None:
        """Remove, or mark as under removal what still has grace, a finalizer, or (a namespace) content."""
        grace = grace_of(key[0], standing, grace_seconds)
        if not (grace or standing["metadata"].get("finalizers") or key[0] is Resource.NAMESPACE):
            self._remove(key)
        elif not standing["metadata"].get("deletionTimestamp"):
            body = copy.deepcopy(standing)
            body["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}
            if key[0] is Resource.NAMESPACE:
                body["status"] = {"phase": "Terminating"}
            self._store(key, body, Change.MODIFIED)

    def _remove(self, key: Key) -> None:
        body = self._objects.pop(key, None)
        if body is None:
            return
        self._now = next(self._counter)
        body["metadata"]["resourceVersion"] = str(self._now)
        self._history.append(Entry(self._now, key[0], Change.DELETED, copy.deepcopy(body), labels_of(body)))
        self._lock.notify_all()
        for other, item in list(self._objects.items()):
            owners = item["metadata"].get("ownerReferences") or []
            if other in self._objects and any(owner.get("uid") == body["metadata"]["uid"] for owner in owners):
                self._let_go(other, item, None)


def _at_end(about: Mapping[str, Any]) -> bool:
    return bool(about.get("deletionTimestamp")) and not about.get("deletionGracePeriodSeconds")


def _key(resource: Resource, body: Mapping[str, Any]) -> Key:
    namespace = "" if resource in CLUSTER_WIDE else str((body.get("metadata") or {}).get("namespace") or "")
    return (resource, namespace, name_of(body))
