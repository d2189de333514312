"""One cluster's observer: a thread per watched resource, and one that writes what they tell in batches.

Lose the process at any line and nothing is lost: the next leader lists everything anew.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import structlog
from django.db import DatabaseError, connection

from apps.clusters import services as clusters
from apps.clusters.gateway import registry
from apps.clusters.gateway.kube.reflector import Delta, Reflector, Seen, Silence
from apps.clusters.gateway.port import ClusterGateway, Forbidden, Resource
from apps.clusters.models import Cluster
from apps.clusters.observer import record_nodes
from apps.kernel import clock
from apps.tasks.domain.naming import LABEL_TASK
from apps.tasks.kinds.raw import text
from apps.tasks.services import observation

logger = structlog.get_logger(__name__)
BATCH_SECONDS = 0.2
BATCH_SIZE = 500
# Full means that the database is slower than the cluster: the watches then wait, and their connections hold the rest.
MOST_WAITING = 5000
UNLABELLED = frozenset({Resource.NODE, Resource.EVENT})


class ClusterObserver:
    """Watches one cluster until ``stop``; start it only as the cluster's leader."""

    def __init__(self, cluster: Cluster, *, now: Callable[[], datetime] = clock.now) -> None:
        self.cluster, self._now = cluster, now
        self._deltas: queue.Queue[Delta] = queue.Queue(MOST_WAITING)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._thread("recorder", self._record)
        for resource in (Resource.NODE, *observation.WATCHED):
            self._thread(resource.value, self._reflects(resource))

    def stop(self) -> None:
        """Ask every thread to end; a watch that waits for its cluster ends with the process (daemon threads)."""
        self._stop.set()

    def join(self, seconds: float) -> bool:
        """Wait for the recorder, so that no batch is cut in the middle; whether it has ended."""
        self._threads[0].join(seconds)
        return not self._threads[0].is_alive()

    @property
    def alive(self) -> bool:
        """Whether all its threads run; a dead one is replaced together with the others."""
        return all(thread.is_alive() for thread in self._threads)

    def _thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=f"{self.cluster.name} {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _reflects(self, resource: Resource) -> Callable[[], None]:
        def run() -> None:
            gateway = self._gateway()
            if gateway is not None:
                selector = None if resource in UNLABELLED else LABEL_TASK
                Reflector(gateway, resource, self._hear, self._stop, selector=selector, jitter=_jitter).run()

        return run

    def _gateway(self) -> ClusterGateway | None:
        """The cluster's gateway; without usable credentials that is told once, and waited for their change."""
        try:
            return registry.gateway_for(self.cluster)
        except Forbidden as error:
            self._hear(Silence(Resource.NODE, error))
            self._stop.wait()
            return None

    def _hear(self, delta: Delta) -> None:
        if self._foreign(delta):
            return
        while not self._stop.is_set():
            try:
                self._deltas.put(delta, timeout=0.5)
            except queue.Full:
                continue
            return

    def _foreign(self, delta: Delta) -> bool:
        """Events of other people's namespaces, which no label selector keeps away."""
        if not isinstance(delta, Seen) or delta.resource is not Resource.EVENT:
            return False
        space = text(delta.object, "involvedObject", "namespace")
        return not space.startswith(f"{self.cluster.namespace_prefix}-")

    def _record(self) -> None:
        while not self._stop.is_set():
            batch = list(self._batch())
            if batch:
                self._write(batch)
        connection.close()

    def _batch(self) -> Iterator[Delta]:
        """What comes within BATCH_SECONDS of the first delta, at most BATCH_SIZE."""
        try:
            yield self._deltas.get(timeout=0.5)
        except queue.Empty:
            return
        until = time.monotonic() + BATCH_SECONDS
        for _place in range(BATCH_SIZE - 1):
            try:
                yield self._deltas.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return

    def _write(self, batch: list[Delta]) -> None:
        """Write the batch, again and again while the database is away: the watches tell nothing twice."""
        pause = 0.2
        while not self._stop.is_set():
            with _reported(self.cluster) as outcome:
                record(self.cluster, batch, now=self._now())
            if outcome == ["written"]:
                return
            self._stop.wait(pause)
            pause = min(5.0, pause * 2)


def record(cluster: Cluster, batch: Sequence[Delta], *, now: datetime) -> None:
    """Write one batch of a cluster's watches: contact or silence, nodes, tasks."""
    silences = [delta for delta in batch if isinstance(delta, Silence) and not _answered(delta)]
    told = [delta for delta in batch if not isinstance(delta, Silence)]
    if told:
        clusters.record_contact(cluster, now=now)
    record_nodes(cluster, told, now=now)
    observation.record(cluster, [delta for delta in told if delta.resource is not Resource.NODE], now=now)
    if silences and batch[-1] is silences[-1]:
        clusters.record_silence(cluster, error=silences[-1].error, now=now)


def _answered(silence: Silence) -> bool:
    """A missing right for one resource is an answer; the cluster's check names the rights that are missing."""
    return isinstance(silence.error, Forbidden) and silence.error.status == 403


@contextmanager
def _reported(cluster: Cluster) -> Iterator[list[str]]:
    """Log a database fault instead of ending the thread, with a fresh connection for the next try."""
    outcome: list[str] = []
    try:
        yield outcome
        outcome.append("written")
    except DatabaseError as fault:
        logger.warning("a batch waits for the database", cluster=cluster.name, fault=str(fault))
        connection.close()


def _jitter(pause: float) -> float:
    return pause * random.uniform(0.75, 1.25)  # noqa: S311 - spreads retries, guards nothing
