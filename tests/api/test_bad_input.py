"""Whatever is sent: a problem with the field named, nothing half-made, never a 500 (issue 3, Bad input)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_job
from tests.support.world import World

TEXT = json.dumps(a_job())


@pytest.fixture
def client(plant: World, caller: Caller) -> APIClient:
    return caller(plant.alice)


def send(client: APIClient, raw: Any) -> Any:
    return client.generic("POST", "/api/v1/tasks", raw, content_type="application/json")


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"\xff\xfe{}",
        b'"text"',
        b"[]",
        b"null",
        b"7",
        TEXT.replace('"kind"', '"display_name": "x", "kind"'),
        TEXT.replace('"30m"', "NaN"),
        TEXT.replace('"30m"', "-Infinity"),
        TEXT.replace('"30m"', "1e999"),
        TEXT.replace('"30m"', "9" * 5000),
        TEXT.replace("train-a", "train\\u0000"),
        TEXT.replace("echo hello", "echo \\ud800"),
        TEXT.replace('"A": "1"', '"\\udfff": "1"'),
        TEXT.replace('"1Gi"', "[" * 40 + "]" * 40),
        b"[" * 500_000,
        TEXT.replace("{", '{"unknown": 1, ', 1),
        "",
    ],
)
def test_no_acceptable_json_is_refused(client: APIClient, raw: bytes | str) -> None:
    answer = send(client, raw)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.content[:200]
    assert (answer["Content-Type"], Task.objects.count()) == ("application/problem+json", 0)


def test_a_body_above_a_mebibyte_is_too_large(client: APIClient) -> None:
    answer = send(client, b'{"display_name": "' + b"x" * 1024 * 1024 + b'"}')
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "too_large", 1024 * 1024)


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("containers.0.cpu", {"containers": [a_container(cpu="4 cores")]}),
        ("containers.0.cpu", {"containers": [a_container(cpu=4)]}),
        ("containers.0.memory", {"containers": [a_container(memory="-1Gi")]}),
        ("containers.0.memory", {"containers": [a_container(memory="1e99")]}),
        ("containers.0.image", {"containers": [a_container(image="no image!")]}),
        ("containers.0.ports.0.port", {"containers": [a_container(ports=[{"port": 70_000}])]}),
        ("display_name", {"display_name": "Train"}),
        ("display_name", {"display_name": "t" * 64}),
        ("kind", {"kind": "StatefulSet"}),
        ("priority", {"priority": "urgent"}),
        ("resources.nodes", {"resources": {"nodes": -1}}),
        ("resources.cards_per_node", {"resources": {"mark": "rtx-4090", "cards_per_node": 1.5}}),
        ("pending_timeout", {"pending_timeout": "soon"}),
        ("shm", {"shm": "1 Gi"}),
        ("containers", {"containers": []}),
    ],
)
def test_a_wrong_value_is_named_by_its_path(client: APIClient, path: str, changes: dict[str, Any]) -> None:
    answer = client.post("/api/v1/tasks", a_job(**changes), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.content
    assert path in answer.json()["fields"]
    assert Task.objects.count() == 0


def test_an_unknown_mark_is_answered_with_the_nearest_first(client: APIClient, plant: World) -> None:
    plant.a_mark("a100-80g")
    wrong = a_job(resources={"mark": "rtx-4900", "cards_per_node": 1, "nodes": 1})
    answer = client.post("/api/v1/tasks", wrong, format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_mark")
    assert "rtx-4090" in json.dumps(answer.json())


def test_another_media_type_is_refused(client: APIClient) -> None:
    answer = client.generic("POST", "/api/v1/tasks", "kind=Job", content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_media_type_that_we_do_not_speak_is_refused(client: APIClient) -> None:
    answer = client.get("/api/v1/tasks", HTTP_ACCEPT="application/xml")
    assert (answer.status_code, answer["Content-Type"]) == (406, "application/problem+json")


@pytest.mark.parametrize(
    "query",
    [
        "q=%00",
        "q=" + "x" * 501,
        "state=asleep",
        "limit=0",
        "limit=201",
        "limit=many",
        "order=project__name",
        "order=owner__password",
        "cursor=%FF",
        "cursor=bm90IGpzb24",
        "cursor=WyItY3JlYXRlZF9hdCIseyJhIjoxfSwxLGZhbHNlXQ",
        "cursor=WyItY3JlYXRlZF9hdCIsIm5vIHRpbWUiLCJubyB1dWlkIixmYWxzZV0",
        "created_after=yesterday",
        "created_before=0001-01-01T00:00:00%2B14:00",
        "owner=%00",
    ],
)
def test_a_wrong_parameter_is_named(client: APIClient, query: str) -> None:
    answer = client.get(f"/api/v1/tasks?{query}")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [query.partition("=")[0]])


def test_a_header_of_nonsense_is_no_token(client: APIClient) -> None:
    for value in ("Bearer", "Bearer ", "Bearer " + "x" * 10_000, "Bearer ptk_\xff\xfe", "Basic YTpi", "bearer ptk_no"):
        client.credentials(HTTP_AUTHORIZATION=value)
        assert client.get("/api/v1/tasks").status_code == 401, value


def test_if_match_of_nonsense_matches_nothing(client: APIClient) -> None:
    made = client.post("/api/v1/tasks", a_job(), format="json").json()
    for value in ("1", "W/", '"x"', "x" * 5000):
        answer = client.patch(f"/api/v1/tasks/{made['id']}", {"display_name": "b"}, format="json", HTTP_IF_MATCH=value)
        assert answer.status_code == 412, value
