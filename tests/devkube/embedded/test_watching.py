"""Watches: order, selectors, bookmarks, and a history that ends."""

from __future__ import annotations

import json
from typing import Any

from kubernetes import client, watch

from tests.devkube.embedded.kit import Kube, pod


def seen(kube: Kube, plural: str, **query: str) -> list[tuple[str, str]]:
    """Return (type, name) of each line of a short watch."""
    return [(each["type"], each["object"]["metadata"].get("name", "")) for each in lines(kube, plural, **query)]


def lines(kube: Kube, plural: str, **query: str) -> list[dict[str, Any]]:
    params = {"watch": "true", "timeoutSeconds": "1", **query}
    return [json.loads(line) for line in kube.http.get(kube.path(plural), params=params).text.splitlines()]


def version(kube: Kube) -> str:
    return str(kube.http.get(kube.path("configmaps")).json()["metadata"]["resourceVersion"])


def test_continues_from_the_version_of_a_list_without_gap_or_repeat(kube: Kube) -> None:
    kube.make("configmaps", {"metadata": {"name": "before"}})
    start = version(kube)
    kube.make("configmaps", {"metadata": {"name": "a"}})
    kube.patch(kube.path("configmaps", "a"), {"data": {"x": "1"}})
    kube.remove(kube.path("configmaps", "a"))
    events = lines(kube, "configmaps", resourceVersion=start)
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in events] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
    ]
    versions = [int(each["object"]["metadata"]["resourceVersion"]) for each in events]
    assert versions == sorted(set(versions))
    assert versions[0] > int(start)


def test_begins_with_what_is_there_when_no_version_is_given(kube: Kube) -> None:
    kube.make("configmaps", {"metadata": {"name": "a"}})
    assert seen(kube, "configmaps") == seen(kube, "configmaps", resourceVersion="0") == [("ADDED", "a")]


def test_reports_an_object_that_leaves_the_selector_as_deleted(kube: Kube) -> None:
    start = version(kube)
    for labels in ({"in": "yes"}, {"in": "yes", "n": "2"}, {"in": "no"}, {"in": "yes"}):
        body = {"metadata": {"name": "a", "labels": labels}}
        if kube.gone("configmaps", "a"):
            kube.make("configmaps", body)
        else:
            kube.patch(kube.path("configmaps", "a"), body)
    assert seen(kube, "configmaps", resourceVersion=start, labelSelector="in=yes") == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("ADDED", "a"),
    ]


def test_follows_a_field_selector(kube: Kube) -> None:
    start = version(kube)
    kube.make("pods", pod("a", nodeSelector={"no": "where"}))
    kube.make("pods", pod("b", nodeSelector={"no": "where"}))
    selected = seen(kube, "pods", resourceVersion=start, fieldSelector="metadata.name=b")
    assert set(selected) == {("ADDED", "b"), ("MODIFIED", "b")}


def test_a_version_older_than_the_history_is_gone(kube: Kube) -> None:
    """F16: the stream opens with 200 and says 410 in its first and only line."""
    start = version(kube)
    kube.make("configmaps", {"metadata": {"name": "churn"}})
    for number in range(401):
        kube.patch(kube.path("configmaps", "churn"), {"data": {"n": str(number)}})
    (event,) = lines(kube, "configmaps", resourceVersion=start)
    status = event["object"]
    assert (event["type"], status["kind"], status["code"], status["reason"]) == ("ERROR", "Status", 410, "Expired")
    assert status["message"].startswith(f"too old resource version: {start} (")


def test_a_quiet_watch_is_told_how_far_it_is(kube: Kube) -> None:
    start = version(kube)
    kube.make("configmaps", {"metadata": {"name": "elsewhere"}})
    query = {"resourceVersion": start, "labelSelector": "a=b", "allowWatchBookmarks": "true"}
    events = lines(kube, "configmaps", **query)
    assert {each["type"] for each in events} == {"BOOKMARK"}
    assert int(events[-1]["object"]["metadata"]["resourceVersion"]) > int(start)
    assert events[-1]["object"]["kind"] == "ConfigMap"


def test_streams_a_list_and_marks_its_end(kube: Kube) -> None:
    kube.make("configmaps", {"metadata": {"name": "a"}})
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    events = lines(kube, "configmaps", **query)
    assert [each["type"] for each in events[:2]] == ["ADDED", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    answer = kube.http.get(kube.path("configmaps"), params={"watch": "1", "sendInitialEvents": "true"})
    assert answer.status_code == 422


def test_serves_the_watch_of_the_official_client(kube: Kube, official: client.ApiClient) -> None:
    core = client.CoreV1Api(official)
    start = version(kube)
    kube.make("configmaps", {"metadata": {"name": "a"}})
    stream = watch.Watch().stream(  # type: ignore[no-untyped-call] # the client has no types here
        core.list_namespaced_config_map, kube.space, resource_version=start, timeout_seconds=1
    )
    assert [(each["type"], each["object"].metadata.name) for each in stream] == [("ADDED", "a")]


def test_refuses_versions_that_are_none(kube: Kube) -> None:
    for bad in ("None", "-1", "1.5"):
        answer = kube.http.get(kube.path("pods"), params={"watch": "1", "resourceVersion": bad})
        assert answer.status_code == 400
    ahead = kube.http.get(kube.path("pods"), params={"resourceVersion": "999999999"})
    assert (ahead.status_code, ahead.json()["reason"]) == (504, "Timeout")
