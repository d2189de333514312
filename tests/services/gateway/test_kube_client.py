"""The official client under our bounds, against servers that behave well, badly and not at all."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from apps.clusters.gateway.breaker import Breaker
from apps.clusters.gateway.kube import client as client_module
from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.port import (
    Change,
    CircuitOpen,
    Forbidden,
    Gone,
    LogQuery,
    ObjectRef,
    Rejected,
    Resource,
    Transient,
)
from tests.services.gateway.serving import Answer, serving

POD = ObjectRef(Resource.POD, "a", "p")


def gateway(url: str, *, seconds: float = 2, token: str = "s3cret", breaker: Breaker | None = None) -> KubeGateway:
    return KubeGateway(Client(Access(url, token), seconds=seconds), breaker)


def test_the_bearer_token_really_leaves() -> None:
    with serving() as served:
        gateway(served.url).read(POD)
    assert [(request[0], request[1], request[2]["Authorization"]) for request in served.requests] == [
        ("GET", "/api/v1/namespaces/p/pods/a", "Bearer s3cret")
    ]


def test_a_redirect_is_not_followed_and_takes_no_token_along() -> None:
    with (
        serving(Answer(body=b'{"stolen": true}')) as thief,
        serving(Answer(302, headers={"Location": thief.url})) as served,
        pytest.raises(Transient, match="redirect"),
    ):
        gateway(served.url).read(POD)
    assert thief.requests == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving() as served:
        assert gateway(served.url).read(POD) == {}


def test_a_server_that_trickles_bytes_is_cut_off() -> None:
    began = time.monotonic()
    with serving(Answer(body=[b"{", *([b" "] * 100)], pause=0.1)) as served, pytest.raises(Transient, match="too long"):
        gateway(served.url, seconds=0.5).read(POD)
    assert time.monotonic() - began < 3


def test_f17_a_server_that_says_nothing_ends_in_a_time_out() -> None:
    with serving(Answer(pause=5)) as served, pytest.raises(Transient):
        gateway(served.url, seconds=0.3).read(POD)


def test_an_answer_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 1000)
    with serving(Answer(body=[b"x" * 600] * 4)) as served, pytest.raises(Transient, match="larger"):
        gateway(served.url).read(POD)


def test_nobody_listening_is_transient_and_names_no_token() -> None:
    with pytest.raises(Transient) as silent:
        gateway("http://127.0.0.1:1").read(POD)
    assert "s3cret" not in str(silent.value)


def test_an_answer_that_is_no_json_is_transient() -> None:
    with (
        serving(Answer(body=b"<html>welcome</html>")) as served,
        pytest.raises(Transient, match="not what a Kubernetes"),
    ):
        gateway(served.url).read(POD)


def test_a_list_is_read_in_pages_and_again_when_its_token_expires() -> None:
    pages = [
        Answer(body=b'{"metadata":{"resourceVersion":"5","continue":"t"},"items":[{"metadata":{"name":"old"}}]}'),
        Answer(410, body=b'{"kind":"Status","code":410,"message":"expired"}'),
        Answer(body=b'{"metadata":{"resourceVersion":"7","continue":"u"},"items":[{"metadata":{"name":"a"}}]}'),
        Answer(body=b'{"metadata":{"resourceVersion":"7"},"items":null}'),
    ]
    with serving(*pages) as served:
        page = gateway(served.url).list(Resource.POD, selector={"platform/task-id": "t"})
    asked = [request[1].partition("?")[2] for request in served.requests]
    selected = "limit=500&labelSelector=platform%2Ftask-id%3Dt"
    assert (page.items, page.version) == ([{"metadata": {"name": "a"}}], "7")
    assert asked == [selected, f"{selected}&continue=t", selected, f"{selected}&continue=u"]


def test_a_watch_asks_for_bookmarks_and_an_end_and_reads_events_cut_anywhere() -> None:
    events = [
        {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "6"}}},
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}},
    ]
    text = b"".join(orjson.dumps(event) + b"\n" for event in events)
    with serving(Answer(body=[text[:20], text[20:]])) as served:
        told = list(gateway(served.url).watch(Resource.POD, "5", selector="x", seconds=30))
    asked = served.requests[0][1].partition("?")[2]
    assert [(event.change, event.version) for event in told] == [(Change.ADDED, "6"), (Change.BOOKMARK, "9")]
    assert asked == "watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=30&labelSelector=x"


def test_f16_an_expired_watch_is_gone_both_ways() -> None:
    line = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'
    with serving(Answer(410, body=b'{"code":410}'), Answer(body=line)) as served:
        for _way in range(2):
            with pytest.raises(Gone):
                list(gateway(served.url).watch(Resource.POD, "5", seconds=1))


def test_f17_an_open_watch_that_falls_silent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.clusters.gateway.kube.adapter.WATCH_GRACE_SECONDS", 0.2)
    with serving(Answer(body=[b""], pause=3)) as served, pytest.raises(Transient, match=r"broke off|no answer"):
        list(gateway(served.url).watch(Resource.POD, "5", seconds=0))


def test_f17_a_dead_cluster_costs_nothing_once_the_circuit_is_open() -> None:
    dead = gateway("http://127.0.0.1:1", breaker=Breaker(failures=3))
    for _try in range(3):
        with pytest.raises(Transient):
            dead.read(POD)
    with pytest.raises(CircuitOpen):
        dead.read(POD)


@pytest.mark.parametrize(("code", "expected"), [(401, Forbidden), (403, Forbidden), (422, Rejected), (429, Transient)])
def test_a_refusal_is_told_in_our_words(code: int, expected: type[Exception]) -> None:
    body = orjson.dumps({"kind": "Status", "code": code, "message": "because"})
    with (
        serving(Answer(code, body=body, headers={"Retry-After": "4"})) as served,
        pytest.raises(expected, match="because"),
    ):
        gateway(served.url).merge(POD, {})


def test_how_long_a_busy_server_asks_to_wait_is_told() -> None:
    with serving(Answer(429, headers={"Retry-After": "4"})) as served, pytest.raises(Transient) as busy:
        gateway(served.url).read(POD)
    assert busy.value.retry_after == 4


def test_of_a_refusal_longer_than_a_page_the_end_is_kept_where_the_reason_stands() -> None:
    body = orjson.dumps({"code": 422, "message": f'Job "a" is invalid: {"x" * 9000}: field is immutable'})
    with serving(Answer(422, body=body)) as served, pytest.raises(Rejected, match=r"^Job .* … .*immutable$") as long:
        gateway(served.url).merge(POD, {})
    assert len(long.value.message) == 2000


@pytest.mark.parametrize(
    "said",
    [
        'jobs.batch "a" is forbidden: not yet ready to handle request',
        'jobs.batch "a" is forbidden: status unknown for quota: few, resources: count/jobs.batch',
    ],
)
def test_what_admission_cannot_decide_yet_is_no_refusal(said: str) -> None:
    body = orjson.dumps({"code": 403, "reason": "Forbidden", "message": said})
    with serving(Answer(403, body=body)) as served, pytest.raises(Transient, match="is forbidden"):
        gateway(served.url).merge(POD, {})


def test_f19_fifty_parallel_calls_on_alternating_clusters_stay_apart() -> None:
    """F19: no shared default configuration, so each answer comes from its own cluster with its own token."""
    with serving(Answer(body=b'{"from": "foo"}')) as foo, serving(Answer(body=b'{"from": "foobar"}')) as foobar:
        ways = [gateway(foo.url, token="foo", seconds=10), gateway(foobar.url, token="foobar", seconds=10)]
        with ThreadPoolExecutor(25) as pool:
            answers = list(pool.map(lambda number: ways[number % 2].read(POD), range(50)))
    tokens = [{request[2]["Authorization"] for request in served.requests} for served in (foo, foobar)]
    assert answers == [{"from": "foo"}, {"from": "foobar"}] * 25
    assert tokens == [{"Bearer foo"}, {"Bearer foobar"}]


def test_a_log_is_streamed_with_its_bounds_asked_for() -> None:
    with serving(Answer(body=[b"2026-12-01T00:00:00Z one\n", b"2026-12-01T00:00:01Z two\n"])) as served:
        text = b"".join(gateway(served.url).logs(LogQuery(POD, "main", previous=True, tail_lines=5, limit_bytes=99)))
    assert text.count(b"\n") == 2
    assert served.requests[0][1] == (
        "/api/v1/namespaces/p/pods/a/log?container=main&timestamps=true&previous=true&tailLines=5&limitBytes=99"
    )
