"""What the platform makes of watches that a real control plane sent (tests/support/recording.py recorded them)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from apps.clusters.gateway.kube.translate import watch_event
from apps.clusters.gateway.port import Change, Manifest, WatchEvent
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import State
from apps.tasks.kinds.base import Observed
from apps.tasks.kinds.registry import KINDS

STREAMS = sorted((Path(__file__).parent / "streams").glob("*.jsonl"))


def events_of(path: Path) -> list[WatchEvent]:
    return [watch_event(line) for line in path.read_bytes().splitlines()]


def pictures(events: list[WatchEvent]) -> Iterator[Observed]:
    """What stands on the cluster after each event, as the observer records it."""
    workload: Manifest | None = None
    pods: dict[str, Manifest] = {}
    for event in events:
        if event.object["kind"] == "Pod":
            pods[event.object["metadata"]["uid"]] = event.object
            if event.change is Change.DELETED:
                del pods[event.object["metadata"]["uid"]]
        else:
            workload = None if event.change is Change.DELETED else event.object
        yield Observed(workload, tuple(pods.values()), wanted_of(workload), seen_before=workload is None)


def wanted_of(workload: Manifest | None) -> int:
    spec = (workload or {}).get("spec") or {}
    return int(spec.get("replicas") or spec.get("parallelism") or 1)


def story(path: Path) -> list[list[str]]:
    """States and reasons in their order, repetitions left out."""
    events = events_of(path)
    kind = KINDS[KindName(events[0].object["kind"])]
    told: list[list[str]] = []
    for picture in pictures(events):
        ran = any(state == State.RUNNING for state, _reason in told)
        found = kind.status(replace(picture, was_running=ran))
        told.append([found.state.value, str(found.reason)])
    return [line for line, _same in itertools.groupby(told)]


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_recorded_life_is_told_as_it_is_written_beside_it(path: Path) -> None:
    assert story(path) == json.loads(path.with_suffix(".story.json").read_text())


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_versions_of_one_object_only_grow_and_an_end_is_told_last(path: Path) -> None:
    lives: dict[str, list[WatchEvent]] = {}
    for event in events_of(path):
        lives.setdefault(event.object["metadata"]["uid"], []).append(event)
    for life in lives.values():
        versions = [int(event.version) for event in life]
        assert versions == sorted(set(versions))
        assert [event.change for event in life[:-1]] == [Change.ADDED] + [Change.MODIFIED] * (len(life) - 2)
