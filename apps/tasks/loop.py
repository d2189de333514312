"""Which clusters this process observes: one leader per cluster by advisory lock, so several processes may run."""

from __future__ import annotations

import structlog
from django.db import DatabaseError, connection

from apps.clusters.models import Cluster
from apps.tasks.observer import ClusterObserver

logger = structlog.get_logger(__name__)
# The first key of every observer's advisory lock, the second is the cluster; the log store has 7302.
LOCK_CLASS = 7303
END_SECONDS = 1.2


class Observers:
    """The observers of this process. The locks live with its database session: lose that and others may lead."""

    def __init__(self) -> None:
        self._running: dict[int, ClusterObserver] = {}
        self._session = 0

    def look(self) -> None:
        """Lead what nobody leads, start anew what changed or died, drop what was removed; a fault of the database is
        waited out, with all observers stopped since their locks went with the session."""
        try:
            self._keep_session()
            clusters = {cluster.pk: cluster for cluster in Cluster.objects.order_by("pk")}
            for pk in self._running.keys() - clusters.keys():
                self._drop(pk)
            for pk, cluster in clusters.items():
                self._tend(pk, cluster)
        except DatabaseError as fault:
            logger.warning("observers wait for the database", fault=str(fault))
            self._stop_all()
            connection.close()

    def close(self) -> None:
        """End every observer within END_SECONDS; the locks go with the session."""
        self._stop_all()
        connection.close()

    @property
    def led(self) -> set[int]:
        """The clusters that this process leads."""
        return set(self._running)

    def _tend(self, pk: int, cluster: Cluster) -> None:
        running = self._running.get(pk)
        if running is not None:
            if running.alive and running.cluster.credentials_changed_at == cluster.credentials_changed_at:
                return
            running.stop()
            running.join(END_SECONDS)
        elif not self._lock(pk):
            return
        self._running[pk] = ClusterObserver(cluster)
        self._running[pk].start()
        logger.info("observing", cluster=cluster.name)

    def _keep_session(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            session = cursor.fetchone()[0]
        if session != self._session:
            self._stop_all()
            self._session = session

    def _lock(self, pk: int) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_CLASS, pk])
            return bool(cursor.fetchone()[0])

    def _drop(self, pk: int) -> None:
        self._running.pop(pk).stop()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_CLASS, pk])

    def _stop_all(self) -> None:
        stopped = list(self._running.values())
        self._running.clear()
        for observer in stopped:
            observer.stop()
        for observer in stopped:
            observer.join(END_SECONDS)
