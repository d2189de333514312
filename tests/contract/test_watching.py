"""Lists in pages and watches that break off, expire and go on; the same on every depth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.kube.reflector import Deleted, Delta, Reflector, Seen
from apps.clusters.gateway.port import Change, ClusterGateway, GatewayError, ObjectRef, Resource
from tests.contract.cases import NAMESPACE, job, labels, pod
from tests.contract.depths import Depth, Server
from tests.contract.waiting import collected, gone, settled, until

A = ObjectRef(Resource.JOB, "a", NAMESPACE)
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"


def some_jobs(gateway: ClusterGateway, number: int) -> list[str]:
    names = [f"j{each:02}" for each in range(number)]
    for name in names:
        gateway.create(Resource.JOB, job(name))
    settled(gateway, ObjectRef(Resource.JOB, names[-1], NAMESPACE))
    return names


def names_of(body: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


@contextmanager
def reflected(gateway: ClusterGateway) -> Iterator[list[Delta]]:
    """What a reflector of Jobs tells meanwhile."""
    told: list[Delta] = []
    stop = threading.Event()
    reflector = Reflector(gateway, Resource.JOB, told.append, stop, selector="platform/task-id", jitter=lambda _: 0.1)
    thread = threading.Thread(target=reflector.run, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        # A watch that hears nothing looks at ``stop`` at its end only.
        until(lambda: gateway.create(Resource.JOB, job("last")))
        thread.join(40)
        assert not thread.is_alive()


def seen(told: list[Delta], kind: type[Seen | Deleted], name: str) -> bool:
    return any(isinstance(each, kind) and each.object["metadata"]["name"] == name for each in list(told))


def test_a_watch_during_which_nothing_happens_ends_in_time_and_says_nothing(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    settled(gateway, A)
    version = gateway.list(Resource.JOB).version
    began = time.monotonic()
    told = list(gateway.watch(Resource.JOB, version, seconds=2))
    assert (told, 1 < time.monotonic() - began < 6) == ([], True)


def test_a_watch_that_is_not_concerned_is_told_a_version_to_go_on_from(gateway: ClusterGateway) -> None:
    version = gateway.list(Resource.JOB).version
    timer = threading.Timer(0.2, gateway.create, (Resource.JOB, job("a", task="other")))
    timer.start()
    told = list(gateway.watch(Resource.JOB, version, selector="platform/task-id=t1", seconds=4))
    timer.join()
    assert ({event.change for event in told}, told[-1].version != version) == ({Change.BOOKMARK}, True)
    gateway.create(Resource.JOB, job("b"))
    assert collected(gateway, told[-1].version, "platform/task-id in (t1, other)")[0] == (Change.ADDED, "b")


def test_an_object_that_leaves_a_selector_is_told_as_deleted_and_one_that_enters_as_added(
    gateway: ClusterGateway,
) -> None:
    gateway.create(Resource.JOB, job("a"))
    settled(gateway, A)
    version = gateway.list(Resource.JOB).version
    for task in ("t2", "t1"):
        gateway.merge(A, {"metadata": {"labels": {"platform/task-id": task}}})
    told = collected(gateway, version, "platform/task-id=t1")
    assert told == [(Change.DELETED, "a"), (Change.ADDED, "a")]


def test_a_deleted_object_is_told_as_it_was_last_with_a_newer_version(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    last = settled(gateway, A)
    version = gateway.list(Resource.JOB).version
    gateway.delete(A)
    event = next(iter(gateway.watch(Resource.JOB, version, selector="platform/task-id", seconds=1)))
    about = event.object["metadata"]
    assert (event.change, about["uid"], dict(about["labels"])) == (
        Change.DELETED,
        last["metadata"]["uid"],
        labels("t1"),
    )
    assert about["resourceVersion"] == event.version != last["metadata"]["resourceVersion"]


def test_a_reflector_lists_again_when_its_version_has_expired(
    gateway: ClusterGateway, forget_history: Callable[[], None]
) -> None:
    """F16: from an old version to 410 to a new list; what went meanwhile is told as deleted."""
    for name in ("a", "b"):
        gateway.create(Resource.JOB, job(name))
    told: list[Delta] = []
    reflector = Reflector(gateway, Resource.JOB, told.append, threading.Event(), selector="platform/task-id")
    version = reflector.list_once()
    gateway.delete(A)
    forget_history()
    with pytest.raises(GatewayError) as expired:
        reflector.watch_once(version, seconds=1)
    assert expired.value.status == 410
    reflector.list_once()
    assert (seen(told, Deleted, "a"), seen(told, Deleted, "b")) == (True, False)


def test_f17_nothing_is_lost_when_the_server_is_killed_and_comes_back(gateway: ClusterGateway, depth: Depth) -> None:
    gateway.create(Resource.JOB, job("a"))
    with reflected(depth.impatient) as told:
        until(lambda: seen(told, Seen, "a"))
        depth.restart()
        gateway.create(Resource.JOB, job("b"))
        gateway.delete(A)
        until(lambda: seen(told, Seen, "b") and seen(told, Deleted, "a"))


def test_f17_a_server_that_hangs_costs_a_bounded_time_and_is_used_again_afterwards(depth: Depth) -> None:
    with depth.hung():
        time.sleep(0.3)  # a signal takes its time
        began = time.monotonic()
        with pytest.raises(GatewayError) as silent:
            depth.impatient.read(A)
        assert (silent.value.transient, silent.value.status, time.monotonic() - began < 4) == (True, None, True)
    assert until(lambda: gone(depth.impatient, A))


def test_f17_a_watch_of_a_server_that_hangs_ends(depth: Depth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.clusters.gateway.kube.adapter.WATCH_GRACE_SECONDS", 1)
    stream = depth.impatient.watch(Resource.JOB, depth.impatient.list(Resource.JOB).version, seconds=2)
    with depth.hung(), pytest.raises(GatewayError) as silent:
        list(stream)
    assert silent.value.transient


def test_pages_show_one_moment_whatever_comes_meanwhile(gateway: ClusterGateway, server: Server) -> None:
    names = some_jobs(gateway, 5)
    first = server.http.get(JOBS, params={"limit": 2}).json()
    gateway.create(Resource.JOB, job("j000"))
    gateway.delete(ObjectRef(Resource.JOB, names[-1], NAMESPACE))
    shown, version = names_of(first), first["metadata"]["resourceVersion"]
    page = first
    while token := page["metadata"].get("continue"):
        page = server.http.get(JOBS, params={"limit": 2, "continue": token}).json()
        shown += names_of(page)
    assert (shown, page["metadata"]["resourceVersion"], first["metadata"]["remainingItemCount"]) == (names, version, 3)
    told = collected(gateway, version)
    assert {(Change.ADDED, "j000"), (Change.DELETED, names[-1])} <= set(told)


class Interrupted(Client):
    """A client to whose cluster something happens after the first page."""

    def __init__(self, access: Access, happens: Callable[[], None]) -> None:
        super().__init__(access, seconds=10)
        self._happens: Callable[[], None] | None = happens

    def call(self, method: str, path: str, **words: Any) -> bytes:
        answer = super().call(method, path, **words)
        if self._happens:
            happens, self._happens = self._happens, None
            happens()
        return answer


@pytest.fixture
def pages_of_five(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.clusters.gateway.kube.translate.PAGE_SIZE", 5)


def test_more_objects_than_a_page_are_read_whole(gateway: ClusterGateway, pages_of_five: None) -> None:
    names = some_jobs(gateway, 12)
    page = gateway.list(Resource.JOB, namespace=NAMESPACE)
    assert ([item["metadata"]["name"] for item in page.items], collected(gateway, page.version)) == (names, [])


def test_a_list_whose_pages_expire_in_the_middle_begins_anew(
    gateway: ClusterGateway, server: Server, forget_history: Callable[[], None], pages_of_five: None
) -> None:
    names = some_jobs(gateway, 7)

    def forgotten() -> None:
        gateway.delete(ObjectRef(Resource.JOB, names[0], NAMESPACE))
        forget_history()

    reader = KubeGateway(Interrupted(server.access, forgotten))
    page = reader.list(Resource.JOB, namespace=NAMESPACE, selector={"platform/task-id": "t1"})
    assert [item["metadata"]["name"] for item in page.items] == names[1:]


def test_an_expired_page_says_so(gateway: ClusterGateway, server: Server, forget_history: Callable[[], None]) -> None:
    some_jobs(gateway, 3)
    token = server.http.get(JOBS, params={"limit": 2}).json()["metadata"]["continue"]
    gateway.create(Resource.JOB, job("more"))
    forget_history()
    answer = until(lambda: server.http.get(JOBS, params={"limit": 2, "continue": token})).json()
    assert (answer["code"], answer["reason"]) == (410, "Expired")


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=p", ["p"]),
        ("metadata.name!=p", ["q"]),
        ("spec.nodeName=n1", ["q"]),
        ("spec.nodeName=n1,status.phase=Running", []),
        ("status.phase=Pending", ["p", "q"]),
        ("spec.restartPolicy=Always", ["p", "q"]),
    ],
)
def test_fields_select_pods(
    gateway: ClusterGateway,
    server: Server,
    made_node: str,
    service_account: None,
    selector: str,
    names: list[str],
) -> None:
    gateway.create(Resource.POD, pod("p", schedulerName="nobody"))
    gateway.create(Resource.POD, pod("q", on=made_node))
    found = server.http.get(f"/api/v1/namespaces/{NAMESPACE}/pods", params={"fieldSelector": selector})
    assert names_of(found.json()) == names


def test_a_field_that_does_not_select_is_refused_by_name(server: Server) -> None:
    answer = server.http.get(JOBS, params={"fieldSelector": "spec.parallelism=1"})
    said = answer.json()["message"]
    assert (answer.status_code, said) == (400, 'field label "spec.parallelism" not supported for Job')
