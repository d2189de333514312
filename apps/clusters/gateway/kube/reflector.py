"""List, then watch, for ever: nothing lost between the two, nothing told twice, no error taken for an object (F16).

Versions are opaque and compared for equality only. The pattern is the one that KubeSpawner's reflector proved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from apps.clusters.gateway.port import Change, ClusterGateway, GatewayError, Gone, Manifest, Resource, WatchEvent

logger = structlog.get_logger(__name__)
WATCH_SECONDS = 30
RELIST_SECONDS = 300
SHORTEST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as it stands now."""

    resource: Resource
    object: Manifest


@dataclass(frozen=True, slots=True)
class Deleted:
    """An object that is no more; after a list, only its metadata's uid, name, namespace and labels are known."""

    resource: Resource
    object: Manifest


@dataclass(frozen=True, slots=True)
class Complete:
    """A whole list has been told: whatever else a reader still has of this resource is gone."""

    resource: Resource
    uids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Silence:
    """The cluster did not answer; told so that a page can say since when."""

    resource: Resource
    error: GatewayError


Delta = Seen | Deleted | Complete | Silence


@dataclass(frozen=True, slots=True)
class _Known:
    version: str
    stub: Manifest


class Reflector:
    """Tells ``deliver`` every change of one resource, from one thread, until ``stop`` is set."""

    def __init__(
        self,
        gateway: ClusterGateway,
        resource: Resource,
        deliver: Callable[[Delta], None],
        stop: threading.Event,
        *,
        selector: str | None = None,
        jitter: Callable[[float], float] = lambda pause: pause,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gateway, self._resource, self._selector = gateway, resource, selector
        self._deliver, self._stop = deliver, stop
        self._jitter, self._clock = jitter, clock
        self._known: dict[str, _Known] = {}
        self._ended: set[str] = set()
        self._pause = SHORTEST_PAUSE

    def run(self) -> None:
        """Go on until stopped; a fault costs a pause that doubles, then everything is listed again."""
        while not self._stop.is_set():
            try:
                self.list_and_watch()
            except Gone:
                self._wait()
            except GatewayError as error:
                logger.warning("watch broke off", resource=self._resource.value, fault=str(error))
                self._deliver(Silence(self._resource, error))
                self._wait()

    def list_and_watch(self) -> None:
        """One list and the watches that follow it, until it is time to list again; raises GatewayError."""
        version = self.list_once()
        self._pause = SHORTEST_PAUSE
        again_at = self._clock() + RELIST_SECONDS
        while not self._stop.is_set() and self._clock() < again_at:
            version = self.watch_once(version, seconds=WATCH_SECONDS)

    def list_once(self) -> str:
        """List everything, tell what differs from what was told before, and return the version to watch from."""
        page = self._gateway.list(self._resource, selector=self._selector)
        present: set[str] = set()
        self._ended.clear()
        for item in page.items:
            uid, version = _identity(item)
            if not uid:
                continue
            present.add(uid)
            self._see(uid, version, item)
        for uid in self._known.keys() - present:
            self._lose(uid, self._known[uid].stub)
        self._deliver(Complete(self._resource, frozenset(present)))
        return page.version

    def watch_once(self, version: str, *, seconds: int) -> str:
        """One watch from ``version``; the version to go on from. Raises Gone when that one has expired."""
        stream = self._gateway.watch(self._resource, version, selector=self._selector, seconds=seconds)
        for event in stream:
            version = event.version
            self._tell(event)
            if self._stop.is_set():
                break
        return version

    def _tell(self, event: WatchEvent) -> None:
        uid, version = _identity(event.object)
        if event.change is Change.BOOKMARK or not uid:
            return
        if event.change is Change.DELETED:
            self._lose(uid, event.object)
        elif uid not in self._ended:
            # A uid never comes back: an ADDED after its DELETED is a stale echo and would revive the dead.
            self._see(uid, version, event.object)

    def _see(self, uid: str, version: str, item: Manifest) -> None:
        known = self._known.get(uid)
        if known is None or known.version != version:
            self._known[uid] = _Known(version, _stub(item))
            self._deliver(Seen(self._resource, item))

    def _lose(self, uid: str, item: Manifest) -> None:
        if uid not in self._ended:
            self._known.pop(uid, None)
            self._ended.add(uid)
            self._deliver(Deleted(self._resource, item))

    def _wait(self) -> None:
        self._stop.wait(self._jitter(self._pause))
        self._pause = min(LONGEST_PAUSE, self._pause * 2)


def _metadata(item: Manifest) -> Mapping[str, Any]:
    found = item.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _identity(item: Manifest) -> tuple[str, str]:
    metadata = _metadata(item)
    return str(metadata.get("uid") or ""), str(metadata.get("resourceVersion") or "")


def _stub(item: Manifest) -> Manifest:
    metadata = _metadata(item)
    return {"metadata": {key: metadata.get(key) for key in ("uid", "name", "namespace", "labels")}}
