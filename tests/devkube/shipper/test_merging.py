"""Parts of lines joined as Vector joins them, and events shaped as it sends them; against its recorded bodies. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkube.agent.cri import CriLog
from devkube.shipper.merging import LONGEST_MERGED, Merger, Message
from devkube.shipper.shaping import Source, Surroundings, event, vector_time
from devkube.shipper.tailing import Tail

RECORDED = json.loads((Path(__file__).parents[2] / "recorded/vector/job-two-containers.json").read_text())


def joined(lines: list[bytes]) -> list[Message]:
    merger, found = Merger(), []
    for at, line in enumerate(lines):
        if message := merger.feed(line, at, at + 1, 0.0):
            found.append(message)
    return found


def test_parts_keep_the_first_time_and_stream_and_the_mark_of_having_been_parts() -> None:
    lines = [b"t1 stdout P ab", b"t2 stderr P cd", b"t3 stdout F e", b"t4 stdout F whole"]
    assert joined(lines) == [
        Message("t1", "stdout", b"abcde", 3, joined=True),
        Message("t4", "stdout", b"whole", 4),
    ]


def test_what_is_no_cri_line_is_passed_over() -> None:
    assert joined([b"", b"hello", b"t stdout X a", b"t both F a", b"t stdout F "]) == [Message("t", "stdout", b"", 5)]


def test_an_endless_line_is_cut_off_at_its_bound() -> None:
    lines = [b"t stdout P " + b"x" * 16384] * 100 + [b"t stdout F end"]
    assert [len(message.text) for message in joined(lines)] == [LONGEST_MERGED]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=60_000).map(lambda text: text.replace(b"\n", b"")), max_size=4))
def test_every_line_comes_out_of_a_log_file_as_it_went_in(tmp_path_factory: Any, texts: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("log") / "0.log"
    log = CriLog(path)
    log.feed("stdout", b"".join(text + b"\n" for text in texts))
    log.close()
    tail = Tail(path, Source("ns", "p", "u", "c", 0), "i", 0)
    found: list[bytes] = []
    while tail.safe < path.stat().st_size:
        found += [message.text for message in tail.messages(0, 30)]
    assert found == texts


def test_only_what_is_complete_may_be_acknowledged_until_its_patience_ends(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(b"t1 stdout F a\nt2 stdout P b\nt3 std")
    tail = Tail(path, Source("ns", "p", "u", "c", 0), "i", 0)
    first = [message.text for message in tail.messages(0, 30)]
    assert (first, tail.safe, tail.place) == ([b"a"], 14, 28)
    late = [message.text for message in tail.messages(31, 30)]
    assert (late, tail.safe) == ([b"b"], 28)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T23:49:48Z", "2026-11-30T23:49:48Z"),
        ("2026-11-30T23:49:48.9Z", "2026-11-30T23:49:48.900Z"),
        ("2026-11-30T23:49:48.90889469Z", "2026-11-30T23:49:48.908894690Z"),
    ],
)
def test_times_have_three_six_or_nine_digits(text: str, expected: str) -> None:
    assert vector_time(text) == expected


def pod_behind(facts: dict[str, Any]) -> dict[str, Any]:
    """The pod that a recorded event tells of, as the API server has it."""
    kind, name = facts["pod_owner"].split("/")
    status = {"name": facts["container_name"], "containerID": facts["container_id"]}
    status["imageID"] = facts["container_image_id"]
    owners = [{"kind": kind, "name": name}]
    container = {"name": facts["container_name"], "image": facts["container_image"]}
    return {
        "metadata": {
            "labels": facts["pod_labels"],
            "annotations": facts["pod_annotations"],
            "ownerReferences": owners,
        },
        "spec": {"nodeName": facts["pod_node_name"], "containers": [container]},
        "status": {
            "podIP": facts["pod_ip"],
            "podIPs": [{"ip": ip} for ip in facts["pod_ips"]],
            "containerStatuses": [status],
        },
    }


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda event: str(event["message"])[:20])
def test_an_event_is_the_one_that_vector_sent(recorded: dict[str, Any]) -> None:
    facts = recorded["kubernetes"]
    source = Source.of(Path(recorded["file"] + ".20261130-234948-1"))
    assert source
    around = Surroundings(pod_behind(facts), facts["namespace_labels"], facts["node_labels"])
    text = recorded["message"].encode()
    message = Message(recorded["timestamp"], recorded["stream"], text, 1, joined="_partial" in recorded)
    assert event(message, source, around) == recorded


def test_without_its_pod_an_event_has_no_kubernetes_object() -> None:
    source = Source("ns", "p", "u", "c", 3)
    found = event(Message("t", "stderr", b"x", 1, joined=True), source, Surroundings(None))
    assert found == {
        "file": "/var/log/pods/ns_p_u/c/3.log",
        "message": "x",
        "source_type": "kubernetes_logs",
        "stream": "stderr",
        "timestamp": "t",
        "_partial": True,
    }
