"""From a shipped line to the reader's socket: `python -m bench.tail --json [--lines 200] [--viewers 20]`.

Lines are posted one batch after another as Vector posts them; every viewer notes when each line arrives. The
reference is the POST itself, answered after its commit: what is on top is the platform's way to the browser.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import time
from typing import Annotated

import httpx
import typer
from websockets.asyncio.client import connect

from bench.harness import Result, percentile, platform, say
from bench.stage import Person, log_event, people_and_quota, running_task, server

TOKEN = "bench-shipper"  # noqa: S105 - of a throw-away database


def main(lines: int = 200, viewers: int = 20, json_line: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Print the 99th percentile of the delay in milliseconds over all viewers."""
    with platform():
        person = people_and_quota()
        task = running_task(hashlib.sha256(TOKEN.encode()).hexdigest())
        with server() as url:
            asyncio.run(_measure(url, person, task, lines, viewers))


async def _measure(url: str, person: Person, task: str, lines: int, viewers: int) -> None:
    sent: dict[str, float] = {}
    delays: list[float] = []
    ready = asyncio.Semaphore(0)
    readers = [asyncio.create_task(_view(url, person, task, lines, sent, delays, ready)) for _ in range(viewers)]
    for _reader in readers:
        await ready.acquire()
    posts: list[float] = []
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as client:
        for number in range(lines):
            body = gzip.compress(json.dumps([log_event(task, f"line {number}", number)]).encode())
            started = sent[f"line {number}"] = time.perf_counter()
            headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            (await client.post("/ingest/vector", content=body, headers=headers)).raise_for_status()
            posts.append(time.perf_counter() - started)
            await asyncio.sleep(0.05)
    await asyncio.wait_for(asyncio.gather(*readers), 60)
    say(f"{len(delays)} arrivals at {viewers} viewers")
    details: dict[str, object] = {
        "viewers": viewers,
        "lines": lines,
        "p50_ms": round(percentile(delays, 0.5) * 1000, 1),
        "complete": len(delays) == lines * viewers,
    }
    figure, reference = percentile(delays, 0.99) * 1000, percentile(posts, 0.99) * 1000
    Result("tail", figure, "ms p99", reference, "the POST of the line, answered after commit", details).print()


async def _view(
    url: str,
    person: Person,
    task: str,
    lines: int,
    sent: dict[str, float],
    delays: list[float],
    ready: asyncio.Semaphore,
) -> None:
    address = url.replace("http://", "ws://") + f"/ws/tasks/{task}"
    headers = {"Cookie": f"sessionid={person.session}", "Origin": url}
    async with connect(address, additional_headers=headers, max_size=None) as socket:
        await socket.send(json.dumps({"type": "hello", "since": 0}))
        await asyncio.sleep(1)
        ready.release()
        got = 0
        while got < lines:
            message = json.loads(await socket.recv())
            now = time.perf_counter()
            for line in message.get("lines", ()) if message["type"] == "log.lines" else ():
                delays.append(now - sent[line["text"]])
                got += 1


if __name__ == "__main__":
    typer.run(main)
