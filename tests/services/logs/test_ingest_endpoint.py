"""The address that Vector posts to: its answers decide whether lines are sent again or lost."""

from __future__ import annotations

from typing import Any

import cramjam
import pytest
from django.db import OperationalError
from django.http import HttpResponse
from django.test import RequestFactory

from apps.logs import selectors
from apps.logs.api import ingest as endpoint
from apps.logs.domain import bodies
from apps.tasks.models import Task
from tests.support.running import SHIPPER_TOKEN, a_batch, a_running_task, a_shipping_cluster, written
from tests.support.world import World

BEARER = f"Bearer {SHIPPER_TOKEN}"


@pytest.fixture
def task(world: World) -> Task:
    return a_running_task(world, a_shipping_cluster(world))


def post(body: bytes, *, authorization: str = BEARER, **headers: Any) -> HttpResponse:
    request = RequestFactory().post(
        "/ingest/vector", body, content_type="application/json", headers={"Authorization": authorization, **headers}
    )
    return endpoint.ingest_vector(request)


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd", "deflate", "snappy"])
def test_a_batch_is_taken_in_every_encoding_that_vector_has(task: Task, encoding: str) -> None:
    packers = {"gzip": cramjam.gzip, "zstd": cramjam.zstd, "deflate": cramjam.zlib}
    body = a_batch(written(task, "epoch 1"))
    if encoding == "snappy":
        body = bytes(cramjam.snappy.compress_raw(body))
    elif encoding in packers:
        body = bytes(packers[encoding].compress(body))
    answer = post(body, **{"Content-Encoding": encoding})
    assert (answer.status_code, answer.content) == (200, b'{"stored": 1, "repeated": 0, "set_aside": {}}')


@pytest.mark.parametrize(
    "authorization", ["", "Bearer ", "Bearer wrong", f"Basic {SHIPPER_TOKEN}", "Bearer " + "x" * 9000]
)
def test_only_a_shippers_token_is_let_in(task: Task, authorization: str) -> None:
    answer = post(a_batch(written(task, "epoch 1")), authorization=authorization)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert selectors.lines(task.pk).lines == ()


def test_one_bad_event_never_refuses_its_batch(task: Task) -> None:
    answer = post(a_batch({"message": None}, written(task, "good")))
    assert (answer.status_code, answer.content) == (
        200,
        b'{"stored": 1, "repeated": 0, "set_aside": {"malformed": 1}}',
    )


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"no json", {}, 400),
        (b"no gzip", {"Content-Encoding": "gzip"}, 400),
        (b"[]", {"Content-Encoding": "br"}, 415),
        (b"[]", {}, 200),
    ],
)
def test_a_body_that_no_second_try_mends_is_refused(
    task: Task, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert post(body, **headers).status_code == status


def test_a_bomb_is_refused_without_unpacking_it(task: Task) -> None:
    bomb = bytes(cramjam.gzip.compress(b" " * (bodies.LARGEST_DECODED + 1)))
    assert post(bomb, **{"Content-Encoding": "gzip"}).status_code == 413


def test_a_body_beyond_the_bound_is_refused_unread(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "LARGEST_SENT", 10)
    assert post(a_batch(written(task, "epoch 1"))).status_code == 413


def test_a_batch_larger_than_djangos_own_bound_is_taken(task: Task) -> None:
    batch = a_batch(*(written(task, "x" * 30_000, nth=nth) for nth in range(100)))
    assert post(batch).status_code == 200


def test_a_store_that_is_away_asks_for_the_batch_again(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(endpoint, "ingest", away)
    answer = post(a_batch(written(task, "epoch 1")))
    assert (answer.status_code, answer["Retry-After"], answer["Content-Type"]) == (503, "5", "application/problem+json")


def test_only_post_is_answered(db: None) -> None:
    assert endpoint.ingest_vector(RequestFactory().get("/ingest/vector")).status_code == 405
