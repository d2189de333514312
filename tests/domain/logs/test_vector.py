"""Vector's bodies: every readable event is read, every other one told apart, none spoils its batch."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.logs.domain.vector import Claim, Fault, NotJsonError, ReadEvent, VectorEvent, events, owner_names, read

RECORDED = Path(__file__).parents[2] / "recorded" / "vector"
TASK = "0b1f6a1e-3f2b-4c1d-9e8f-000000000001"
LABELS = {"platform/task-id": TASK, "platform/attempt": "2"}
FILE = "/var/log/pods/default_train-a-x_uid-1/main/0.log"


def an_event(**changes: Any) -> dict[str, Any]:
    facts = {"pod_name": "train-a-x", "pod_namespace": "default", "pod_uid": "uid-1", "container_name": "main"}
    values = {
        "message": "epoch 1",
        "timestamp": "2026-11-30T23:49:48.898924694Z",
        "stream": "stdout",
        "file": FILE,
        "kubernetes": facts | {"pod_labels": LABELS},
    }
    return values | changes


def heard(*items: Mapping[str, Any]) -> list[ReadEvent | Fault]:
    found = events(json.dumps(items).encode())
    return [event if isinstance(event, Fault) else read(event) for event in found]


LABELLED = Claim(TASK, 2, "default", "uid-1", "train-a-x", "main", "stdout")
AT = 1796082588898924694


def test_an_event_with_our_labels_claims_its_task_and_attempt() -> None:
    assert heard(an_event()) == [ReadEvent(AT, LABELLED, "epoch 1")]


@pytest.mark.parametrize("missing", [None, {}])
def test_without_kubernetes_facts_the_pod_is_read_from_the_files_path(missing: dict[str, Any] | None) -> None:
    bare = Claim("", 0, "default", "uid-1", "train-a-x", "main", "stdout")
    assert heard(an_event(kubernetes=missing)) == [ReadEvent(AT, bare, "epoch 1")]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"message": None}, Fault.MALFORMED),
        ({"message": {"nested": 1}}, Fault.MALFORMED),
        ({"kubernetes": []}, Fault.MALFORMED),
        ({"timestamp": "yesterday"}, Fault.NO_TIME),
        ({"timestamp": ""}, Fault.NO_TIME),
        ({"kubernetes": None, "file": "/tmp/other.log"}, Fault.NO_POD),
        (
            {"kubernetes": {"pod_name": "x\x00", "pod_namespace": "d", "pod_uid": "u", "container_name": "c"}},
            Fault.NO_POD,
        ),
        ({"kubernetes": {"pod_labels": {"app": "dns"}}}, Fault.NOT_OURS),
        ({"kubernetes": {"pod_labels": {**LABELS, "platform/task-id": "3f2b"}}}, Fault.UNKNOWN_TASK),
        ({"kubernetes": {"pod_labels": {**LABELS, "platform/attempt": "0"}}}, Fault.UNKNOWN_TASK),
        ({"kubernetes": {"pod_labels": {**LABELS, "platform/attempt": "９"}}}, Fault.UNKNOWN_TASK),
    ],
)
def test_a_bad_event_is_told_apart_and_its_neighbour_is_read(changes: dict[str, Any], fault: Fault) -> None:
    assert heard(an_event(**changes), an_event()) == [fault, ReadEvent(AT, LABELLED, "epoch 1")]


def test_recorded_bodies_are_read_whole() -> None:
    body = (RECORDED / "job-two-containers.json").read_bytes()
    found = [event for event in events(body) if isinstance(event, VectorEvent)]
    assert len(found) == len(json.loads(body))
    assert {type(read(event)) for event in found} <= {ReadEvent, Fault}
    assert "out 1" in [event.message for event in found]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([an_event(), an_event()]),
        "\n".join([json.dumps(an_event())] * 2),
        "\r\n".join([json.dumps(an_event())] * 2) + "\r\n\r\n",
        "  " + json.dumps([an_event(), an_event()], indent=1) + "\n",
    ],
)
def test_arrays_and_lines_of_json_are_both_taken(body: str) -> None:
    assert [type(event) for event in events(body.encode())] == [VectorEvent, VectorEvent]


@pytest.mark.parametrize("body", [b"", b"  ", b"hello", b"<html>", b"[nonsense", b"\x00", b"[" * 100_000])
def test_only_a_body_without_any_json_is_refused(body: bytes) -> None:
    with pytest.raises(NotJsonError):
        list(events(body))


def test_a_broken_end_costs_only_what_follows_it() -> None:
    body = json.dumps([an_event(), an_event()]).encode()[:-20]
    assert [type(event) for event in events(body)] == [VectorEvent, Fault]


def test_bytes_that_are_no_utf8_and_lone_surrogates_are_read_with_replacements() -> None:
    good = json.dumps(an_event()).encode()
    body = b"[" + good.replace(b"epoch", b"\xff\xfe") + b"," + good.replace(b"epoch", b"\\ud800") + b"]"
    found = [event.message for event in events(body) if isinstance(event, VectorEvent)]
    assert found == ["�� 1", "\ud800 1"]


def test_an_empty_batch_is_no_fault() -> None:
    assert list(events(b"[]")) == []


def test_a_nested_bomb_is_one_bad_event() -> None:
    bomb = '{"message": ' + "[" * 50_000 + "]" * 50_000 + "}"
    found = list(events(f"[{json.dumps(an_event())}, {bomb}]".encode()))
    assert [type(event) for event in found] == [VectorEvent, Fault]


@pytest.mark.parametrize(
    ("pod", "names"),
    [("train-a-abcd2345-x7k2p", ("train-a-abcd2345", "train-a")), ("web-1-5f6b-x", ("web-1-5f6b", "web-1")), ("a", ())],
)
def test_a_pods_name_tells_which_objects_it_may_come_from(pod: str, names: tuple[str, ...]) -> None:
    assert owner_names(pod) == names


@given(st.binary(max_size=300))
def test_whatever_bytes_come_they_are_events_faults_or_no_json(body: bytes) -> None:
    with contextlib.suppress(NotJsonError):
        assert all(isinstance(event, VectorEvent | Fault) for event in events(body))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["message", "timestamp", "kubernetes", "file", "pod_labels"]) | st.text(), inner
            )
        ),
    )
)
def test_whatever_json_comes_it_is_read_or_told_apart(value: Any) -> None:
    for event in events(json.dumps([value]).encode()):
        assert isinstance(event, Fault) or isinstance(read(event), ReadEvent | Fault)
