"""The task list with few and with many tasks: `python -m bench.list_page --json [--tasks 20000] [--requests 100]`.

The reference is the same page with 10 tasks; the number of queries of both is in the details and must be equal.
"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bench.harness import Result, percentile, platform, say
from bench.stage import many_tasks, people_and_quota


def main(tasks: int = 20_000, requests: int = 100, json_line: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Print p95 of the page at the server in milliseconds."""
    with platform():
        people_and_quota()
        many_tasks(10)
        few, queries_few = _measure(requests)
        many_tasks(tasks - 10)
        many, queries_many = _measure(requests)
        details: dict[str, object] = {
            "tasks": tasks,
            "queries": queries_many,
            "queries_with_10": queries_few,
            "p50_ms": round(percentile(many, 0.5) * 1000, 1),
        }
        figure, reference = percentile(many, 0.95) * 1000, percentile(few, 0.95) * 1000
        Result("list_page", figure, "ms p95", reference, "the same page with 10 tasks", details).print()


def _measure(requests: int) -> tuple[list[float], int]:
    from django.db import connection  # noqa: PLC0415 - Django is set up by now, not at import
    from django.test import Client  # noqa: PLC0415 - as above
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415 - as above

    from apps.accounts.models import User  # noqa: PLC0415 - as above

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client()
    client.force_login(User.objects.get(), backend="django.contrib.auth.backends.ModelBackend")
    client.get("/tasks/", headers={"host": "localhost"})
    with CaptureQueriesContext(connection) as captured:
        client.get("/tasks/", headers={"host": "localhost"})
    queries = len(captured)  # before the next request clears the log
    times = []
    for _number in range(requests):
        started = time.perf_counter()
        answer = client.get("/tasks/", headers={"host": "localhost"})
        times.append(time.perf_counter() - started)
    say(f"{queries} queries, {len(answer.content):,} bytes, status {answer.status_code}")
    return times, queries


if __name__ == "__main__":
    typer.run(main)
