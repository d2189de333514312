"""List-then-watch on a cluster in memory (F16)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from apps.clusters.gateway.kube.reflector import Complete, Deleted, Delta, Reflector, Seen, Silence
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import Gone, ObjectRef, Resource, Transient

SELECTOR = "platform/task-id"


class Ear:
    """What a reader was told, in short words."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __call__(self, delta: Delta) -> None:
        match delta:
            case Seen(object=item) | Deleted(object=item):
                self.heard.append(f"{type(delta).__name__} {item['metadata']['name']}")
            case Complete(uids=uids):
                self.heard.append(f"Complete {len(uids)}")
            case Silence():
                self.heard.append("Silence")


@pytest.fixture
def cluster() -> MemoryGateway:
    gateway = MemoryGateway()
    gateway.put(Resource.NAMESPACE, {"metadata": {"name": "p"}})
    return gateway


def pod(name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "p", "labels": {"platform/task-id": "t"}}
    return {"metadata": metadata, **fields}


def reflector(cluster: MemoryGateway, ear: Ear, stop: threading.Event | None = None) -> Reflector:
    return Reflector(
        cluster, Resource.POD, ear, stop or threading.Event(), selector=SELECTOR, jitter=lambda _pause: 0.01
    )


def test_nothing_is_lost_between_list_and_watch(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    cluster.put(Resource.POD, pod("a"))
    version = reflects.list_once()
    cluster.put(Resource.POD, pod("b"))
    reflects.watch_once(version, seconds=0)
    assert ear.heard == ["Seen a", "Complete 1", "Seen b"]


def test_what_vanished_unseen_is_found_by_the_next_list(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    cluster.put(Resource.POD, pod("a"))
    reflects.list_once()
    cluster.finish(ObjectRef(Resource.POD, "a", "p"))
    reflects.list_once()
    assert ear.heard == ["Seen a", "Complete 1", "Deleted a", "Complete 0"]


def test_the_same_state_twice_is_told_once(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    version = cluster.list(Resource.POD).version
    cluster.put(Resource.POD, pod("a"))
    reflects.list_once()
    reflects.watch_once(version, seconds=0)
    assert ear.heard == ["Seen a", "Complete 1"]


def test_f16_an_echo_of_a_deleted_object_does_not_bring_it_back(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    start = reflects.list_once()
    cluster.put(Resource.POD, pod("a"))
    cluster.finish(ObjectRef(Resource.POD, "a", "p"))
    reflects.watch_once(start, seconds=0)
    reflects.watch_once(start, seconds=0)
    assert ear.heard == ["Complete 0", "Seen a", "Deleted a"]


def test_f16_an_expired_version_is_gone_and_a_fresh_list_goes_on(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    version = reflects.list_once()
    cluster.put(Resource.POD, pod("a"))
    cluster.compact()
    with pytest.raises(Gone):
        reflects.watch_once(version, seconds=0)
    reflects.list_once()
    assert ear.heard == ["Complete 0", "Seen a", "Complete 1"]


def test_an_object_that_leaves_the_selector_is_gone_for_its_reader(cluster: MemoryGateway) -> None:
    ear = Ear()
    reflects = reflector(cluster, ear)
    cluster.put(Resource.POD, pod("a"))
    version = reflects.list_once()
    cluster.put(Resource.POD, {"metadata": {"name": "a", "namespace": "p", "labels": {}}})
    reflects.watch_once(version, seconds=0)
    assert ear.heard == ["Seen a", "Complete 1", "Deleted a"]


def test_f17_a_silent_cluster_is_told_as_such_and_watched_again_when_it_is_back(cluster: MemoryGateway) -> None:
    ear, stop, heard_all = Ear(), threading.Event(), threading.Event()
    cluster.put(Resource.POD, pod("a"))
    cluster.fail_next(Transient("timed out"), times=2)

    def deliver(delta: Delta) -> None:
        ear(delta)
        if isinstance(delta, Complete):
            heard_all.set()
            stop.set()

    reflects = Reflector(cluster, Resource.POD, deliver, stop, selector=SELECTOR, jitter=lambda _pause: 0.01)
    thread = threading.Thread(target=reflects.run, daemon=True)
    thread.start()
    assert heard_all.wait(5)
    cluster.go_dead()
    thread.join(5)
    assert (ear.heard[:4], thread.is_alive()) == (["Silence", "Silence", "Seen a", "Complete 1"], False)
