"""The shipper against a receiver that answers as it is told: nothing lost, nothing acknowledged too early."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from devkube.agent.api import Api
from devkube.agent.cri import CriLog
from devkube.agent.serving import Server, listening
from devkube.shipper.metadata import Metadata
from devkube.shipper.shipping import Limits, Shipper
from devkube.shipper.sink import Sink, retried


class Receiver:
    """Keeps what it answered 200 to; `answers` are given first, one a request."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.seen: list[dict[str, Any]] = []
        self.stored: list[str] = []
        self.headers: dict[str, str] = {}
        self.url = ""

    async def take(self, request: Request) -> Response:
        code = self.answers.pop(0) if self.answers else 200
        self.headers = dict(request.headers)
        events = json.loads(gzip.decompress(await request.body()))
        self.seen += events
        if code == 200:
            self.stored += [event["message"] for event in events]
        return PlainTextResponse("as told", code)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made, wire = Receiver(), listening(0)
    made.url = f"http://127.0.0.1:{wire.getsockname()[1]}/ingest/vector"
    app = Starlette(routes=[Route("/ingest/vector", made.take, methods=["POST"])])
    server = Server(uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[wire]))
    yield made
    server.should_exit = True
    await serving


def log_of(data: Path, number: int = 0, **limits: int) -> CriLog:
    return CriLog(data / "pods" / "ns_p_u-1" / "main" / f"{number}.log", **limits)


async def ship(
    data: Path, receiver: Receiver, *, until: int, limits: Limits | None = None, seconds: float = 20
) -> None:
    """Run a shipper until so many messages are stored (or the seconds are over), then stop it."""
    api, sink = (
        Api("http://127.0.0.1:9", "t"),
        Sink(receiver.url, "cluster-token", first_pause=0.02, longest_pause=0.05),
    )
    stop = asyncio.Event()
    shipper = Shipper(data, Metadata(api, data), sink, limits or Limits(seconds=0.02))
    running = asyncio.create_task(shipper.run(stop))
    for _ in range(int(seconds * 100)):
        if len(receiver.stored) >= until:
            break
        await asyncio.sleep(0.01)
    stop.set()
    await running
    await sink.aclose()
    await api.aclose()


async def test_lines_arrive_once_and_in_order_with_vectors_headers(tmp_path: Path, receiver: Receiver) -> None:
    log = log_of(tmp_path)
    log.feed("stdout", b"".join(b"line %d\n" % n for n in range(3000)))
    log.close()
    await ship(tmp_path, receiver, until=3000)
    assert receiver.stored == [f"line {n}" for n in range(3000)]
    wanted = {"content-type": "application/json", "content-encoding": "gzip", "authorization": "Bearer cluster-token"}
    assert {name: receiver.headers[name] for name in wanted} == wanted


async def test_a_batch_is_sent_again_until_it_is_stored(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [503, 429, 500]
    log_of(tmp_path).feed("stdout", b"kept\n")
    await ship(tmp_path, receiver, until=1)
    assert ([event["message"] for event in receiver.seen], receiver.stored) == (["kept"] * 4, ["kept"])


async def test_a_batch_that_is_refused_for_good_is_dropped_loudly(
    tmp_path: Path, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("ERROR", logger="devkube.shipper")
    receiver.answers = [400]
    log = log_of(tmp_path)
    log.feed("stdout", b"bad\n")

    async def go_on_after_the_refusal() -> None:
        while receiver.answers:
            await asyncio.sleep(0.01)
        log.feed("stdout", b"good\n")

    going_on = asyncio.create_task(go_on_after_the_refusal())
    await ship(tmp_path, receiver, until=1)
    await going_on
    assert receiver.stored == ["good"]
    assert "1 LOG LINES ARE LOST" in caplog.text


async def test_a_shipper_that_comes_back_sends_neither_less_nor_more(tmp_path: Path, receiver: Receiver) -> None:
    log = log_of(tmp_path)
    log.feed("stdout", b"one\n")
    await ship(tmp_path, receiver, until=1)
    log.feed("stdout", b"two\n")
    log_of(tmp_path, 1).feed("stdout", b"after a restart\n")
    await ship(tmp_path, receiver, until=3)
    assert sorted(receiver.stored) == ["after a restart", "one", "two"]


async def test_what_was_not_stored_is_sent_by_the_next_shipper(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [503] * 1000
    log_of(tmp_path).feed("stdout", b"held back\n")
    await ship(tmp_path, receiver, until=1, seconds=0.3)
    receiver.answers = []
    await ship(tmp_path, receiver, until=1)
    assert receiver.stored == ["held back"]


async def test_rotation_loses_and_repeats_nothing(tmp_path: Path, receiver: Receiver) -> None:
    log = log_of(tmp_path, rotate_bytes=2000, rotate_files=10)
    texts = [f"line {n} {'x' * 200}" for n in range(60)]
    for at, text in enumerate(texts):
        asyncio.get_running_loop().call_later(at * 0.005, log.feed, "stdout", f"{text}\n".encode())
    await ship(tmp_path, receiver, until=60)
    assert sorted(receiver.stored) == sorted(texts)


async def test_one_loud_container_does_not_keep_the_others_waiting(tmp_path: Path, receiver: Receiver) -> None:
    log_of(tmp_path).feed("stdout", b"loud\n" * 20_000)
    quiet = CriLog(tmp_path / "pods" / "ns_quiet_u-2" / "main" / "0.log")
    quiet.feed("stdout", b"quiet\n")
    await ship(tmp_path, receiver, until=20_001, limits=Limits(seconds=0.02, events=100))
    assert receiver.stored.index("quiet") < 15_000


async def test_a_pod_that_is_gone_is_known_by_what_the_agent_kept(tmp_path: Path, receiver: Receiver) -> None:
    pod = {"metadata": {"labels": {"platform/task-id": "t-1"}}, "spec": {"nodeName": "n1", "containers": []}}
    kept = tmp_path / "run" / "u-1" / "pod.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps(pod))
    log_of(tmp_path).feed("stderr", b"short life\n")
    await ship(tmp_path, receiver, until=1)
    facts = receiver.seen[0]["kubernetes"]
    assert (facts["pod_labels"], facts["pod_uid"], facts["pod_node_name"]) == ({"platform/task-id": "t-1"}, "u-1", "n1")


def test_answers_are_retried_as_vector_retries_them() -> None:
    codes = (200, 400, 401, 404, 408, 413, 429, 500, 501, 503)
    assert [code for code in codes if retried(code)] == [408, 429, 500, 503]
