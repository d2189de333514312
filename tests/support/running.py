"""Tasks that stand on a cluster already, and what their pods write: rows straight into the tables."""

from __future__ import annotations

import json
from typing import Any

from apps.accounts.models import User
from apps.clusters.models import Cluster
from apps.kernel.names import object_name
from apps.logs.access import token_digest
from apps.organisations.models import Project
from apps.tasks.domain.spec import KindName, Priority
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt, Event, Instance, Revision, Task
from tests.support.world import World

SHIPPER_TOKEN = "shipper-of-beijing"
NAMESPACE = "platform-p-map-team"


def a_shipping_cluster(world: World, name: str = "beijing", token: str = SHIPPER_TOKEN) -> Cluster:
    """A cluster whose log shipper holds ``token``."""
    return world.a_cluster(name, ingest_digest=token_digest(token))


def a_running_task(
    world: World, cluster: Cluster, *, name: str = "train-a", owner: User | None = None, project: Project | None = None
) -> Task:
    """A running Job with one attempt on the cluster: of the world's project unless an ``owner`` alone is given."""
    if owner is None:
        owner, project = world.alice, project or world.project
    pool = world.a_pool(f"pool-{name}")
    on_cluster = object_name(name, name.encode().ljust(5, b"-")[:5])
    task = Task.objects.create(
        kind=KindName.JOB,
        display_name=name,
        object_name=on_cluster,
        owner=owner,
        project=project,
        priority=Priority.NORMAL,
        spec={},
        state=State.RUNNING,
        seq=1,
        created_at=world.now,
        queued_at=world.now,
    )
    Revision.objects.create(task=task, number=1, spec={}, author=owner, created_at=world.now)
    placed = {"cluster": cluster, "pool": pool, "admitted_at": world.now, "namespace": NAMESPACE}
    Attempt.objects.create(task=task, number=1, object_name=on_cluster, created_at=world.now, **placed)
    return task


def an_instance(task: Task, world: World, *, uid: str = "uid-1", suffix: str = "x7k2p", **facts: Any) -> Instance:
    """A running pod of the task's first attempt."""
    values = {"name": f"{task.object_name}-{suffix}", "state": "running", "first_seen_at": world.now, "seq": task.seq}
    return Instance.objects.create(attempt=task.attempts.get(number=1), uid=uid, **(values | facts))


def an_event(task: Task, world: World, token: str = "Submitted", **facts: Any) -> Event:
    values = {"attempt": 1, "at": world.now, "source": "platform", "token": token, "seq": task.seq}
    return Event.objects.create(task=task, **(values | facts))


def written(task: Task, message: str, *, nth: int = 0, **changes: Any) -> dict[str, Any]:
    """The event that Vector sends for a line of the task's pod; ``nth`` is its time in milliseconds after noon."""
    pod = f"{task.object_name}-x7k2p"
    labels = {"platform/task-id": str(task.pk), "platform/attempt": "1", "job-name": task.object_name}
    event = {
        "file": f"/var/log/pods/{NAMESPACE}_{pod}_uid-1/main/0.log",
        "kubernetes": {
            "pod_name": pod,
            "pod_namespace": NAMESPACE,
            "pod_uid": "uid-1",
            "container_name": "main",
            "pod_labels": labels,
        },
        "message": message,
        "source_type": "kubernetes_logs",
        "stream": "stdout",
        "timestamp": f"2026-12-01T12:{nth // 60_000:02d}:{nth // 1000 % 60:02d}.{nth % 1000:03d}000000Z",
    }
    return event | changes


def a_batch(*events: Any) -> bytes:
    return json.dumps(list(events)).encode()
