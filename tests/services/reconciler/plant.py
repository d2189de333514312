"""A task on a cluster in memory, stepped by hand: submit, admit, reconcile, observe."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from apps.clusters.gateway import registry
from apps.clusters.gateway.kube.reflector import Delta, Reflector
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import ClusterGateway, ObjectRef, Resource
from apps.clusters.models import Cluster
from apps.quotas.models import Quota, Reservation
from apps.tasks import reconciler
from apps.tasks.domain.spec import KindName, Port, TaskSpec
from apps.tasks.models import Attempt, Task
from apps.tasks.observer import record
from apps.tasks.services import placement
from apps.tasks.services.observation import WATCHED
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_container, a_spec


class Plant:
    """One cluster of the world behind a gateway in memory; ``now`` moves only by ``later``."""

    def __init__(self, world: World, cluster: Cluster, gateway: ClusterGateway) -> None:
        self.world, self.cluster, self.gateway = world, cluster, gateway
        self.now: datetime = world.now
        self._reflectors: list[tuple[Reflector, dict[str, str]]] = []
        self._deltas: list[Delta] = []

    @property
    def memory(self) -> MemoryGateway:
        assert isinstance(self.gateway, MemoryGateway)
        return self.gateway

    def later(self, **duration: float) -> None:
        self.now += timedelta(**duration)

    def submit(self, spec: TaskSpec | None = None) -> Task:
        return submit_task(spec or a_spec(), by=self.world.alice, now=self.now)

    def admit(self, task: Task) -> Attempt:
        """Admit the task's present attempt to this cluster's public pool, as the scheduler does."""
        assert placement.admit(
            task_id=task.pk,
            attempt_number=task.attempt,
            cluster_id=self.cluster.pk,
            pool_id=self.world.pool.pk,
            planned_nodes={"gpu-0": 1},
            keeps_quota_hold=True,
            now=self.now,
        )
        task.refresh_from_db()
        return task.attempts.get(number=task.attempt)

    def started(self, spec: TaskSpec | None = None) -> tuple[Task, Attempt]:
        """A submitted, admitted, reconciled and observed task."""
        task = self.submit(spec)
        attempt = self.admit(task)
        self.reconcile(attempt)
        self.observe()
        return self.fresh(task), self.fresh_attempt(attempt)

    def reconcile(self, attempt: Attempt) -> None:
        reconciler.reconcile(attempt.pk, now=lambda: self.now)

    def observe(self) -> None:
        """List every watched resource anew and record what differs, as an observer that has just begun."""
        deltas: list[Delta] = []
        for resource in WATCHED:
            selector = None if resource is Resource.EVENT else "platform/task-id"
            Reflector(self.gateway, resource, deltas.append, threading.Event(), selector=selector).list_once()
        record(self.cluster, deltas, now=self.now)

    def job(self, attempt: Attempt) -> ObjectRef:
        return ObjectRef(Resource.JOB, attempt.object_name, self.fresh_attempt(attempt).namespace)

    def pod(self, attempt: Attempt, name: str = "", **fields: Any) -> str:
        """Create or change a pod of the attempt's workload; running on gpu-0 unless told otherwise."""
        attempt = self.fresh_attempt(attempt)
        owner = self.memory.read(self.job(attempt)) or self.memory.read(self.deployment(attempt))
        name = name or f"{attempt.object_name}-aaaaa"
        self.memory.set_pod(attempt.namespace, name, owner=owner, **(running() | fields))
        return name

    def deployment(self, attempt: Attempt) -> ObjectRef:
        return ObjectRef(Resource.DEPLOYMENT, attempt.object_name, self.fresh_attempt(attempt).namespace)

    def complete(self, attempt: Attempt) -> None:
        """The Job's controller says that it is done."""
        condition = {"type": "Complete", "status": "True"}
        self.memory.set_status(self.job(attempt), {"succeeded": 1, "conditions": [condition]})

    def fresh(self, task: Task) -> Task:
        return Task.objects.get(pk=task.pk)

    def fresh_attempt(self, attempt: Attempt) -> Attempt:
        return Attempt.objects.select_related("task").get(pk=attempt.pk)


def a_deployment() -> TaskSpec:
    """One instance with one exposed port, so that it brings a Service along."""
    return a_spec(
        kind=KindName.DEPLOYMENT, containers=(a_container(command=("sleep", "600"), ports=(Port(8080, "http"),)),)
    )


def running(phase: str = "Running") -> dict[str, Any]:
    state = {"running": {"startedAt": "2026-12-01T12:00:05Z"}}
    status = {"phase": phase, "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "state": state}]}
    return {"spec": {"nodeName": "gpu-0"}, "status": status}


def held(world: World) -> int:
    """Cards of the project's quota that are held now."""
    return Quota.objects.get(project=world.project, resource="cards:rtx-4090").held


def open_bookings(task: Task) -> int:
    return Reservation.objects.filter(task_id=task.pk, release=None).count()


@contextmanager
def plant_of(world: World, gateway: ClusterGateway | None = None) -> Iterator[Plant]:
    cluster = world.a_plant()
    plant = Plant(world, cluster, gateway or MemoryGateway())
    with registry.bound(cluster, plant.gateway):
        yield plant
