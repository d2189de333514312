"""Submission by REST at many parallel clients: `python -m bench.submit --json [--clients 50] [--tasks 400]`.

The reference is the same server answering `/readyz` (one database and one cache round trip) to as many clients.
"""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

import httpx
import typer

from bench.harness import Result, percentile, platform, say
from bench.stage import MARK, people_and_quota, server


def main(
    clients: int = 50, tasks: int = 400, workers: int = 1, json_line: Annotated[bool, typer.Option("--json")] = False
) -> None:
    """Print p95 in milliseconds and its ratio to the bare request."""
    with platform():
        person = people_and_quota()
        with server(workers=workers) as url:
            asyncio.run(_measure(url, person.token, clients, tasks))


async def _measure(url: str, token: str, clients: int, tasks: int) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client:
        await _run(client, clients, clients, submit=True, prefix="warm")
        ours, statuses = await _run(client, clients, tasks, submit=True, prefix="t")
        bare, _statuses = await _run(client, clients, tasks, submit=False, prefix="")
    say(f"answers: {statuses}")
    figure, reference = percentile(ours, 0.95) * 1000, percentile(bare, 0.95) * 1000
    details: dict[str, object] = {
        "clients": clients,
        "p50_ms": round(percentile(ours, 0.5) * 1000, 1),
        "accepted": statuses.get(201, 0),
        "per_second": round(clients / (sum(ours) / len(ours)), 1),
    }
    Result("submit", figure, "ms p95", reference, "GET /readyz p95 at as many clients", details).print()


async def _run(
    client: httpx.AsyncClient, clients: int, count: int, *, submit: bool, prefix: str
) -> tuple[list[float], dict[int, int]]:
    gate, times = asyncio.Semaphore(clients), []
    statuses: dict[int, int] = {}

    async def one(number: int) -> None:
        async with gate:
            started = time.perf_counter()
            answer = await (
                client.post("/api/v1/tasks", json=_spec(f"{prefix}-{number}")) if submit else client.get("/readyz")
            )
            times.append(time.perf_counter() - started)
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1

    await asyncio.gather(*(one(number) for number in range(count)))
    return times, statuses


def _spec(name: str) -> dict[str, Any]:
    return {
        "kind": "Job",
        "display_name": name,
        "project": "bench",
        "resources": {"mark": MARK, "cards_per_node": 1, "nodes": 1},
        "containers": [{"name": "main", "image": "busybox", "command": ["true"]}],
    }


if __name__ == "__main__":
    typer.run(main)
