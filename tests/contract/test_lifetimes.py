"""How objects end: finalizers, owners, grace, namespaces; the same on every depth."""

from __future__ import annotations

import time

import pytest

from apps.clusters.gateway.port import Change, ClusterGateway, ObjectRef, Resource
from tests.contract.cases import NAMESPACE, job, namespace, node, owned_by, pod, service
from tests.contract.depths import Depth, Server
from tests.contract.waiting import collected, gone, present, settled, until

A, B = ObjectRef(Resource.JOB, "a", NAMESPACE), ObjectRef(Resource.JOB, "b", NAMESPACE)
POD = ObjectRef(Resource.POD, "p", NAMESPACE)
HOLD = "platform/hold"


def held(name: str) -> dict[str, object]:
    made = job(name)
    made["metadata"]["finalizers"] = [HOLD]
    return made


def test_an_object_with_a_finalizer_stays_under_removal_until_that_is_taken_away(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, held("a"))
    gateway.delete(A)
    under_removal = present(gateway, A)["metadata"]
    assert ("deletionTimestamp" in under_removal, under_removal["finalizers"]) == (True, [HOLD])
    gateway.merge(A, {"metadata": {"finalizers": None}})
    assert gone(gateway, A)


def test_a_watch_tells_a_removal_under_a_finalizer_as_a_change_and_its_end_as_deleted(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, held("a"))
    version = gateway.list(Resource.JOB).version
    gateway.delete(A)
    gateway.merge(A, {"metadata": {"finalizers": []}})
    told = collected(gateway, version)
    assert (told[0], told[-1]) == ((Change.MODIFIED, "a"), (Change.DELETED, "a"))


def test_deleting_again_what_is_under_removal_changes_nothing(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, held("a"))
    gateway.delete(A)
    first = present(gateway, A)["metadata"]["deletionTimestamp"]
    gateway.delete(A)
    assert present(gateway, A)["metadata"]["deletionTimestamp"] == first


def test_what_an_object_owned_goes_with_it(gateway: ClusterGateway) -> None:
    owner = gateway.create(Resource.JOB, job("a"))
    gateway.create(Resource.SERVICE, owned_by(owner, service("s")))
    gateway.create(Resource.SERVICE, service("other"))
    gateway.delete(A)
    until(lambda: gone(gateway, ObjectRef(Resource.SERVICE, "s", NAMESPACE)))
    assert not gone(gateway, ObjectRef(Resource.SERVICE, "other", NAMESPACE))


def test_what_is_owned_by_one_who_never_was_goes(gateway: ClusterGateway, depth: Depth) -> None:
    never = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "uid": "0-0"}}
    gateway.create(Resource.SERVICE, owned_by(never, service("s")))
    depth.step()
    until(lambda: gone(gateway, ObjectRef(Resource.SERVICE, "s", NAMESPACE)))


def test_what_is_owned_and_held_back_outlives_its_owner(gateway: ClusterGateway) -> None:
    owner = gateway.create(Resource.JOB, job("a"))
    gateway.create(Resource.JOB, owned_by(owner, held("b")))
    gateway.delete(A)
    until(lambda: "deletionTimestamp" in present(gateway, B)["metadata"])
    assert gone(gateway, A)
    gateway.merge(B, {"metadata": {"finalizers": None}})
    assert gone(gateway, B)


def test_in_the_foreground_the_owner_goes_after_what_it_owned(gateway: ClusterGateway, server: Server) -> None:
    owner = gateway.create(Resource.JOB, job("a"))
    gateway.create(Resource.JOB, owned_by(owner, held("b"), blocks=True))
    settled(gateway, B)
    time.sleep(1)  # the collector hears of owners by a watch of its own, and lets one go that it knows nothing of
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/a"
    answer = server.http.delete(path, params={"propagationPolicy": "Foreground"})
    assert (answer.status_code, answer.json()["metadata"]["finalizers"]) == (200, ["foregroundDeletion"])
    until(lambda: "deletionTimestamp" in present(gateway, B)["metadata"])
    assert "deletionTimestamp" in present(gateway, A)["metadata"]
    gateway.merge(B, {"metadata": {"finalizers": None}})
    until(lambda: gone(gateway, A))


def test_a_pod_without_a_node_goes_at_once(gateway: ClusterGateway, service_account: None) -> None:
    gateway.create(Resource.POD, pod("p", schedulerName="nobody"))
    gateway.delete(POD)
    assert gone(gateway, POD)


def test_a_pod_on_a_node_has_its_grace_and_may_be_cut_short(
    gateway: ClusterGateway, made_node: str, service_account: None
) -> None:
    gateway.create(Resource.POD, pod("p", on=made_node))
    gateway.delete(POD, grace_seconds=20)
    about = present(gateway, POD)["metadata"]
    assert ("deletionTimestamp" in about, about["deletionGracePeriodSeconds"]) == (True, 20)
    gateway.delete(POD, grace_seconds=0)
    assert gone(gateway, POD)


def test_a_namespace_goes_with_all_that_is_in_it_and_may_come_again(gateway: ClusterGateway, depth: Depth) -> None:
    space = ObjectRef(Resource.NAMESPACE, "short-lived")
    first = gateway.create(Resource.NAMESPACE, namespace("short-lived"))["metadata"]["uid"]
    gateway.create(Resource.JOB, job("a", space="short-lived"))
    gateway.delete(space)
    depth.step()
    until(lambda: gone(gateway, space))
    second = gateway.create(Resource.NAMESPACE, namespace("short-lived"))["metadata"]["uid"]
    left = gateway.list(Resource.JOB, namespace="short-lived").items
    gateway.delete(space)
    assert (first != second, list(left)) == (True, [])


def test_a_namespace_under_removal_says_so(gateway: ClusterGateway, terminating: str) -> None:
    space = present(gateway, ObjectRef(Resource.NAMESPACE, terminating))
    assert ("deletionTimestamp" in space["metadata"], space["status"]["phase"]) == (True, "Terminating")


@pytest.mark.parametrize("grace", [0, 5, None])
def test_a_node_goes_at_once(gateway: ClusterGateway, grace: int | None) -> None:
    gateway.create(Resource.NODE, node("n2"))
    gateway.delete(ObjectRef(Resource.NODE, "n2"), grace_seconds=grace)
    assert gone(gateway, ObjectRef(Resource.NODE, "n2"))
