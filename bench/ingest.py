"""Log ingest against bare COPY of the same rows: `python -m bench.ingest --json [--lines 20000] [--rounds 5]`.

Both sides write the same lines, interleaved round by round: the platform from Vector's gzip body to its partitioned,
deduplicated table with its indexes; the reference by COPY into a plain table of the same columns.
"""

from __future__ import annotations

import json
import statistics
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import cramjam
import typer

from bench.harness import Result, platform, say


def main(
    lines: int = 20_000, rounds: int = 5, batch: int = 1_000, json_line: Annotated[bool, typer.Option("--json")] = False
) -> None:
    """Print lines a second and its ratio to bare COPY."""
    with platform():
        cluster, pod = _stage()
        ours: list[float] = []
        bare: list[float] = []
        for number in range(rounds):
            bodies = [_body(pod, number, start, batch) for start in range(0, lines, batch)]
            ours.append(lines / _ingest(cluster, bodies))
            bare.append(lines / _copy(pod, number, lines, batch))
            say(f"round {number + 1}: {ours[-1]:,.0f} lines/s, bare COPY {bare[-1]:,.0f}")
        details = {"ours": [round(x) for x in ours], "bare": [round(x) for x in bare], "batch": batch}
        figure, reference = statistics.median(ours), statistics.median(bare)
        Result("ingest", figure, "lines/s", reference, "COPY of the same rows", details).print()


def _stage() -> tuple[Any, dict[str, str]]:
    """A cluster with one attempt whose pod writes all the lines."""
    from apps.accounts.models import User  # noqa: PLC0415 - as above
    from apps.clusters.models import Cluster, Pool  # noqa: PLC0415 - Django is set up by now, not at import
    from apps.tasks.models import Attempt, Task  # noqa: PLC0415 - as above

    now = datetime.now(UTC)  # noqa: TID251 - a benchmark times the real clock
    owner = User.objects.create_user("bench")
    cluster = Cluster.objects.create(name="bench", server="http://127.0.0.1:1", created_at=now)
    pool = Pool.objects.create(name="public", kind="public")
    task = Task.objects.create(
        kind="Job",
        display_name="bench",
        object_name="bench-aaaaaaaa",
        owner=owner,
        priority="normal",
        spec={},
        created_at=now,
        queued_at=now,
    )
    Attempt.objects.create(
        task=task, number=1, object_name="bench-aaaaaaaa", cluster=cluster, pool=pool, admitted_at=now, created_at=now
    )
    return cluster, {"task": str(task.pk), "uid": str(uuid.uuid4()), "name": "bench-aaaaaaaa-x1"}


def _stamp(number: int, place: int) -> str:
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10 - number)  # noqa: TID251 - as above
    return f"{at:%Y-%m-%dT%H:%M:%S}.{place * 1000 % 1_000_000_000:09d}Z"


def _body(pod: dict[str, str], number: int, start: int, batch: int) -> bytes:
    kubernetes = {
        "pod_name": pod["name"],
        "pod_namespace": "platform-u-1",
        "pod_uid": pod["uid"],
        "container_name": "main",
        "pod_labels": {"platform/task-id": pod["task"], "platform/attempt": "1"},
    }
    file = f"/var/log/pods/platform-u-1_{pod['name']}_{pod['uid']}/main/0.log"
    events = [
        {
            "file": file,
            "kubernetes": kubernetes,
            "message": f"epoch {number} step {place} loss 0.{place:06d} lr 0.0003",
            "source_type": "kubernetes_logs",
            "stream": "stdout",
            "timestamp": _stamp(number, place),
        }
        for place in range(start, start + batch)
    ]
    return bytes(cramjam.gzip.compress(json.dumps(events).encode()))


def _ingest(cluster: Any, bodies: list[bytes]) -> float:
    from apps.logs.domain.bodies import decoded  # noqa: PLC0415 - as above
    from apps.logs.ingest import ingest  # noqa: PLC0415 - as above

    now = datetime.now(UTC)  # noqa: TID251 - as above
    started = time.perf_counter()
    for body in bodies:
        ingest(cluster, decoded(body, "gzip"), now=now)
    return time.perf_counter() - started


def _copy(pod: dict[str, str], number: int, lines: int, batch: int) -> float:
    from django.db import connection  # noqa: PLC0415 - as above

    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS bare (task_id uuid, attempt int, pod_uid text, instance text, container text,"
            " stream text, at_ns bigint, message text)"
        )
    started = time.perf_counter()
    for start in range(0, lines, batch):
        with connection.cursor() as cursor, cursor.copy("COPY bare FROM STDIN") as copy:
            for place in range(start, start + batch):
                text = f"epoch {number} step {place} loss 0.{place:06d} lr 0.0003"
                copy.write_row((pod["task"], 1, pod["uid"], pod["name"], "main", "stdout", place * 1000, text))
    return time.perf_counter() - started


if __name__ == "__main__":
    typer.run(main)
