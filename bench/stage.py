"""What the benchmarks of the web process share: people, quota, many tasks, and a real server in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.harness import say
from devkube.children import free_port

MARK = "rtx-4090"


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in caller: the bearer token for REST and the session cookie for pages and sockets."""

    token: str
    session: str


def people_and_quota(*, cards: int = 1_000_000) -> Person:
    """One person with a project of a large quota, a public pool with room, a mark."""
    from django.contrib.sessions.backends.db import SessionStore  # noqa: PLC0415 - Django is set up by now, not at import

    from apps.accounts import services as accounts  # noqa: PLC0415 - as above
    from apps.accounts.models import User  # noqa: PLC0415 - as above
    from apps.clusters.models import AcceleratorType, Cluster, Node, Pool  # noqa: PLC0415 - as above
    from apps.organisations.models import Department, Membership, Project  # noqa: PLC0415 - as above
    from apps.quotas.models import Quota  # noqa: PLC0415 - as above

    now = moment()
    user = User.objects.create_user("bench", password="unused")  # noqa: S106 - a throw-away database
    department = Department.objects.create(slug="bench", name="Bench")
    project = Project.objects.create(slug="bench", name="Bench", department=department, created_at=now)
    Membership.objects.create(project=project, user=user, role="owner")
    mark = AcceleratorType.objects.create(
        mark=MARK, label=MARK, node_selector={"m": MARK}, cards_per_node=8, cpu_per_card=20_000, memory_per_card=103_424
    )
    pool = Pool.objects.create(name="public", kind="public")
    cluster = Cluster.objects.create(name="bench", server="http://127.0.0.1:1", created_at=now)
    facts: dict[str, Any] = {"cpu": 160_000, "memory": 827_392, "cards": 8, "cards_capacity": 8, "ready": True}
    Node.objects.create(cluster=cluster, name="n-1", pool=pool, mark=mark, seen_at=now, **facts)
    Quota.objects.create(project=project, resource=f"cards:{MARK}", limit=cards)
    session = SessionStore()
    session.update(
        {
            "_auth_user_id": str(user.pk),
            "_auth_user_backend": "django.contrib.auth.backends.ModelBackend",
            "_auth_user_hash": user.get_session_auth_hash(),
        }
    )
    session.create()
    return Person(accounts.issue_full_token(user, name="bench", now=now), str(session.session_key))


def many_tasks(count: int) -> None:
    """``count`` finished and running tasks of the project, written straight into the tables."""
    from apps.accounts.models import User  # noqa: PLC0415 - as above
    from apps.organisations.models import Project  # noqa: PLC0415 - as above
    from apps.tasks.domain.spec import ContainerSpec, KindName, ResourceRequest, TaskSpec, to_json  # noqa: PLC0415 - as above
    from apps.tasks.models import Attempt, Task  # noqa: PLC0415 - as above

    owner, project, now = User.objects.get(), Project.objects.get(), moment()
    made = Task.objects.count()
    spec = TaskSpec(
        KindName.JOB, "t", (ContainerSpec("main", "busybox"),), ResourceRequest(MARK, 1, 1), project=project.slug
    )
    for start in range(made, made + count, 5_000):
        tasks = [
            Task(
                kind="Job",
                display_name=f"t-{number}",
                object_name=f"t-{number}-aaaaaaaa",
                owner=owner,
                project=project,
                priority="normal",
                mark=MARK,
                cards=1,
                spec=to_json(spec),
                state="succeeded",
                created_at=now - timedelta(seconds=number),
                queued_at=now,
                finished_at=now,
            )
            for number in range(start, min(start + 5_000, made + count))
        ]
        Task.objects.bulk_create(tasks)
        Attempt.objects.bulk_create(
            Attempt(task=task, number=1, object_name=task.object_name, created_at=now) for task in tasks
        )
    say(f"{made + count} tasks in the table")


def moment() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - a benchmark times the real clock


@contextmanager
def server(*, workers: int = 1) -> Iterator[str]:
    """The web process as production runs it, on a free port of loopback; yields its address."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "platform_site.asgi:application", "--port", str(port)]
    command += ["--workers", str(workers), "--log-level", "warning"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "platform_site.settings.demo"}
    process = subprocess.Popen(command, env=environment)
    try:
        _wait(f"http://127.0.0.1:{port}/healthz", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own loopback address
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the web process did not start")


def running_task(ingest_digest: str) -> str:
    """A task whose attempt runs on the cluster, so that lines of its pod are taken; its id."""
    from apps.clusters.models import Cluster, Pool  # noqa: PLC0415 - as above
    from apps.tasks.models import Attempt, Task  # noqa: PLC0415 - as above

    many_tasks(1)
    Cluster.objects.update(ingest_digest=ingest_digest)
    task = Task.objects.get()
    Task.objects.update(state="running", finished_at=None)
    Attempt.objects.update(cluster=Cluster.objects.get(), pool=Pool.objects.get(), admitted_at=moment())
    return str(task.pk)


def log_event(task: str, message: str, number: int) -> dict[str, Any]:
    """One line in the shape of Vector's http sink; ``number`` makes its timestamp its own."""
    pod, uid = "t-0-aaaaaaaa-x1", "7b4b0c4e-0000-4000-8000-000000000001"
    return {
        "file": f"/var/log/pods/platform-p-bench_{pod}_{uid}/main/0.log",
        "kubernetes": {
            "container_name": "main",
            "pod_labels": {"platform/task-id": task, "platform/attempt": "1"},
            "pod_name": pod,
            "pod_namespace": "platform-p-bench",
            "pod_uid": uid,
        },
        "message": message,
        "source_type": "kubernetes_logs",
        "stream": "stdout",
        "timestamp": f"{moment():%Y-%m-%dT%H:%M:%S}.{number:09d}Z",
    }
