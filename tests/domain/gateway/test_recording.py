"""What is kept of a cluster's objects, and what an event belongs to (F18, F27)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.kinds.recording import (
    LONGEST_TEXT,
    ended_at,
    owner_of,
    read_event,
    recorded_pod,
    recorded_workload,
    storable,
)

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
TASK = "11111111-2222-3333-4444-555555555555"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_cluster_sends_can_be_stored(value: Any) -> None:
    stored = orjson.dumps(storable(value))
    assert b"\\u0000" not in stored


def test_texts_are_bounded() -> None:
    assert len(storable({"message": "x" * 10**6})["message"]) == LONGEST_TEXT + 1


@given(JSON, JSON)
def test_an_odd_pod_or_workload_is_kept_without_an_error(metadata: Any, status: Any) -> None:
    item = {"metadata": metadata, "spec": status, "status": status}
    assert set(recorded_pod(item)) == {"metadata", "spec", "status"}
    assert "managedFields" not in recorded_workload({"metadata": {"managedFields": [1]}})["metadata"]
    assert owner_of(item) is None


@pytest.mark.parametrize(
    ("labels", "owner"),
    [
        ({"platform/task-id": TASK, "platform/attempt": "2"}, (UUID(TASK), 2)),
        ({"platform/task-id": TASK, "platform/attempt": "x"}, None),
        ({"platform/task-id": TASK}, None),
        ({"platform/task-id": "1", "platform/attempt": "1"}, None),
        (None, None),
    ],
)
def test_an_object_belongs_to_a_task_by_its_labels_alone(labels: Any, owner: tuple[UUID, int] | None) -> None:
    assert owner_of({"metadata": {"name": f"train-{TASK}", "labels": labels}}) == owner


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"completionTime": "2026-12-01T11:00:00Z"}, "11:00"),
        ({"conditions": [{"type": "Failed", "lastTransitionTime": "2026-12-01T10:30:00Z"}]}, "10:30"),
        ({"completionTime": "2026-12-01T13:00:00Z"}, "12:00"),
        ({"completionTime": "soon", "conditions": None}, "12:00"),
        (None, "12:00"),
    ],
)
def test_an_end_is_dated_by_the_cluster_but_never_in_the_future(status: Any, expected: str) -> None:
    assert ended_at({"status": status}, latest=NOW).strftime("%H:%M") == expected


def test_an_event_names_its_possible_owners_the_longest_first() -> None:
    event = read_event({"involvedObject": {"name": "train-a-abcd2345-7f9c-x2x4z"}}, now=NOW)
    assert event.possible_owners == ("train-a-abcd2345-7f9c-x2x4z", "train-a-abcd2345-7f9c", "train-a-abcd2345")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"lastTimestamp": "2026-12-01T11:00:00Z", "firstTimestamp": "2026-12-01T10:00:00Z"}, "11:00"),
        ({"lastTimestamp": None, "eventTime": "2026-12-01T11:30:00.123456Z"}, "11:30"),
        ({"eventTime": None, "firstTimestamp": None}, "12:00"),
        ({"lastTimestamp": "2030-01-01T00:00:00Z"}, "12:00"),
        ({"lastTimestamp": 5, "series": {"lastObservedTime": "2026-12-01T09:00:00Z", "count": 7}}, "09:00"),
    ],
)
def test_f18_an_event_without_a_time_happened_now(times: dict[str, Any], expected: str) -> None:
    assert read_event(times, now=NOW).at.strftime("%H:%M") == expected
