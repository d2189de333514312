"""Waiting for what controllers do in their own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import Change, ClusterGateway, Manifest, ObjectRef, Resource

T = TypeVar("T")
PATIENCE = 20.0


def until(ask: Callable[[], T]) -> T:
    """The first true answer; fails with the last one when none comes in PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not (answer := ask()):
        assert time.monotonic() < end, f"it did not happen in {PATIENCE:.0f} s; the last answer was {answer!r}"
        time.sleep(0.05)
    return answer


def gone(gateway: ClusterGateway, ref: ObjectRef) -> bool:
    return gateway.read(ref) is None


def present(gateway: ClusterGateway, ref: ObjectRef) -> Manifest:
    found = gateway.read(ref)
    assert found is not None
    return found


def collected(
    gateway: ClusterGateway, version: str, selector: str = "platform/task-id", seconds: int = 1
) -> list[tuple[Change, str]]:
    """The changes of Jobs that a watch of some seconds from ``version`` tells, bookmarks left out."""
    told = gateway.watch(Resource.JOB, version, selector=selector, seconds=seconds)
    return [(event.change, event.object["metadata"]["name"]) for event in told if event.change is not Change.BOOKMARK]


def settled(gateway: ClusterGateway, ref: ObjectRef) -> Manifest:
    """The object once its controllers have written what they had to: the same version for a quarter of a second."""
    while True:
        before = present(gateway, ref)
        time.sleep(0.25 if gateway.__class__ is not MemoryGateway else 0)
        after = present(gateway, ref)
        if before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
            return after
