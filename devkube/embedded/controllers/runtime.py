"""What all controllers share: a queue of keys, the loop that works it off, the pods by their owner."""

import asyncio
import heapq
import logging
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers.events import Recorder
from devkube.embedded.objects import Obj, meta, name_of, namespace_of
from devkube.embedded.registry import Registry
from devkube.embedded.resources import Resource
from devkube.embedded.store import Change, Entry, Key, Store

LOG = logging.getLogger(__name__)
K = TypeVar("K", bound=Hashable)

FIRST_RETRY = 0.2
LAST_RETRY = 60.0
BURST = 20


@dataclass(frozen=True, slots=True)
class Timing:
    """Waits of the controllers, in seconds; the defaults are the real ones."""

    job_backoff: float = 10.0
    node_grace: float = 40.0
    node_gone: float = 60.0


class Queue(Generic[K]):
    """Keys to look at, each once, now or later; woken by changes and by its own clock only."""

    def __init__(self, name: str, sync: Callable[[K], None]) -> None:
        self.name, self.sync = name, sync
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._count = 0
        self._failures: dict[K, int] = defaultdict(int)
        self._awake = asyncio.Event()

    def add(self, key: K, after: float = 0.0) -> None:
        """Look at a key in `after` seconds, or earlier when that was asked for already."""
        due = clock.monotonic() + max(after, 0.0)
        if key in self._due and self._due[key] <= due:
            return
        self._due[key] = due
        self._count += 1
        heapq.heappush(self._heap, (due, self._count, key))
        self._awake.set()

    def retry(self, key: K) -> None:
        """Look at a key again, later with each failure."""
        self._failures[key] += 1
        self.add(key, min(FIRST_RETRY * 2 ** min(self._failures[key] - 1, 16), LAST_RETRY))

    async def run(self) -> None:
        """Work for ever."""
        done = 0
        while True:
            key = self._next()
            if key is None:
                await self._wait()
                continue
            try:
                self.sync(key)
                if key not in self._due:
                    self._failures.pop(key, None)
            except Exception:
                LOG.exception("%s failed on %s", self.name, key)
                self.retry(key)
            done += 1
            if done % BURST == 0:
                await asyncio.sleep(0)

    def _next(self) -> K | None:
        while self._heap and self._heap[0][0] <= clock.monotonic():
            due, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == due:
                del self._due[key]
                return key
        return None

    async def _wait(self) -> None:
        self._awake.clear()
        left = self._heap[0][0] - clock.monotonic() if self._heap else None
        try:
            async with asyncio.timeout(left):
                await self._awake.wait()
        except TimeoutError:
            return


class Owned:
    """Who owns whom, kept up to date from the changes of every namespaced resource."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._children: dict[str, set[tuple[str, Key]]] = defaultdict(set)
        self.uids: set[str] = set()
        self._resources = {resource.key: resource for resource in r.STORED}
        for resource in r.STORED:
            for obj in store.objects(resource):
                self._put(resource, obj)
            store.index(resource, self._listener(resource))

    def _listener(self, resource: Resource) -> Callable[[Change], None]:
        def listen(change: Change) -> None:
            if change.before:
                self._drop(resource, change.before.obj)
            if change.kind != "DELETED":
                self._put(resource, change.entry.obj)

        return listen

    def _put(self, resource: Resource, obj: Obj) -> None:
        self.uids.add(meta(obj)["uid"])
        for owner in meta(obj).get("ownerReferences") or []:
            self._children[owner["uid"]].add((resource.key, (namespace_of(obj), name_of(obj))))

    def _drop(self, resource: Resource, obj: Obj) -> None:
        self.uids.discard(meta(obj)["uid"])
        for owner in meta(obj).get("ownerReferences") or []:
            children = self._children[owner["uid"]]
            children.discard((resource.key, (namespace_of(obj), name_of(obj))))
            if not children:
                del self._children[owner["uid"]]

    def children(self, uid: str) -> list[tuple[Resource, Entry]]:
        """Return everything that names this owner."""
        found = []
        for key, (namespace, name) in sorted(self._children.get(uid, ())):
            entry = self.store.get(self._resources[key], namespace, name)
            if entry is not None:
                found.append((self._resources[key], entry))
        return found

    def controlled(self, uid: str, resource: Resource) -> list[Obj]:
        """Return the objects of a resource whose controller is `uid`."""
        return [
            entry.obj
            for kind, entry in self.children(uid)
            if kind is resource
            and any(o["uid"] == uid and o.get("controller") for o in meta(entry.obj)["ownerReferences"])
        ]


@dataclass(slots=True)
class Context:
    """What a controller works with."""

    registry: Registry
    owned: Owned
    events: Recorder
    timing: Timing

    @property
    def store(self) -> Store:
        """The store behind the registry."""
        return self.registry.store


def key_of(obj: Obj) -> Key:
    """Return the key of an object in its resource."""
    return namespace_of(obj), name_of(obj)
