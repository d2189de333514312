"""Lines of a watch and pages of a list, as clusters really send them (F16, F18)."""

from __future__ import annotations

import msgspec
import pytest

from apps.clusters.gateway.kube.translate import ListAnswer, collection_path, object_path, watch_event
from apps.clusters.gateway.port import Change, Gone, ObjectRef, Resource, Transient, WatchEvent


def test_f16_an_error_event_is_raised_and_never_an_object() -> None:
    line = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}'
    with pytest.raises(Gone, match="too old"):
        watch_event(line)


def test_f16_an_error_event_of_the_server_is_transient() -> None:
    with pytest.raises(Transient, match="etcd"):
        watch_event(b'{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd"}}')


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b'{"type":"ERROR","object":{"code":"x"}}',
        b'{"type":"MODIFIED","object":{"metadata":null}}',
        b'{"type":"MODIFIED","object":{"metadata":{"resourceVersion":null}}}',
        b'{"type":"NOVEL","object":{"metadata":{"resourceVersion":"4"}}}',
    ],
)
def test_f16_no_version_named_none_is_ever_watched_from(line: bytes) -> None:
    with pytest.raises(Transient):
        watch_event(line)


def test_a_bookmark_carries_its_version() -> None:
    line = b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12"}}}'
    assert watch_event(line) == WatchEvent(
        Change.BOOKMARK, {"kind": "Pod", "metadata": {"resourceVersion": "12"}}, "12"
    )


def test_f18_nulls_in_a_list_break_nothing() -> None:
    body = b'{"metadata":{"resourceVersion":"9","continue":null},"items":null}'
    answer = msgspec.json.decode(body, type=ListAnswer)
    assert (answer.items, answer.version, answer.token) == (None, "9", "")


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        (ObjectRef(Resource.POD, "a", "p"), "/api/v1/namespaces/p/pods/a"),
        (ObjectRef(Resource.JOB, "a", "p"), "/apis/batch/v1/namespaces/p/jobs/a"),
        (ObjectRef(Resource.NODE, "a b"), "/api/v1/nodes/a%20b"),
        (ObjectRef(Resource.PRIORITY_CLASS, "x"), "/apis/scheduling.k8s.io/v1/priorityclasses/x"),
    ],
)
def test_an_object_has_one_path(ref: ObjectRef, path: str) -> None:
    assert object_path(ref) == path


def test_a_collection_spans_every_namespace_unless_told() -> None:
    assert [collection_path(Resource.JOB), collection_path(Resource.JOB, "p")] == [
        "/apis/batch/v1/jobs",
        "/apis/batch/v1/namespaces/p/jobs",
    ]
