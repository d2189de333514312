"""What every cluster must do behind the port, whichever depth it has; the same cases run on all of them."""

from __future__ import annotations

import itertools
import threading

import pytest

from apps.clusters.domain.node_labels import label_changes
from apps.clusters.gateway.port import (
    Change,
    ClusterGateway,
    Conflict,
    Gone,
    LogQuery,
    ObjectRef,
    Rejected,
    Resource,
)
from tests.contract.cases import NAMESPACE, deployment, job, labels, namespace, node
from tests.contract.waiting import collected, settled

A = ObjectRef(Resource.JOB, "a", NAMESPACE)


def test_tells_its_version_and_what_it_serves(gateway: ClusterGateway) -> None:
    facts = gateway.facts()
    assert (facts.version[:1], {"v1", "apps/v1", "batch/v1"} <= facts.capabilities, list(facts.missing_rights)) == (
        "v",
        True,
        [],
    )


def test_creating_again_gives_the_object_that_is_there(gateway: ClusterGateway) -> None:
    first, second = gateway.create(Resource.JOB, job("a")), gateway.create(Resource.JOB, job("a"))
    assert first["metadata"]["uid"] == second["metadata"]["uid"]


@pytest.mark.parametrize("other", [{"task": "t2"}, {"attempt": 2}])
def test_a_name_that_belongs_to_another_is_a_conflict(gateway: ClusterGateway, other: dict[str, object]) -> None:
    gateway.create(Resource.JOB, job("a"))
    with pytest.raises(Conflict):
        gateway.create(Resource.JOB, job("a", **other))  # type: ignore[arg-type]  # one of two typed keywords


def test_a_namespace_may_be_created_twice(gateway: ClusterGateway) -> None:
    assert gateway.create(Resource.NAMESPACE, namespace())["metadata"]["name"] == NAMESPACE


def test_a_dry_run_leaves_nothing(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"), dry_run=True)
    assert gateway.read(A) is None


def test_an_object_that_can_never_be_is_rejected_with_the_reason(gateway: ClusterGateway) -> None:
    wrong = job("a")
    wrong["spec"]["template"]["spec"]["containers"] = []
    with pytest.raises(Rejected, match="containers"):
        gateway.create(Resource.JOB, wrong)


def test_creating_in_a_namespace_that_is_not_there_is_gone(gateway: ClusterGateway) -> None:
    with pytest.raises(Gone):
        gateway.create(Resource.JOB, job("a", space="nowhere"))


def test_merging_changes_only_the_named_fields_and_null_removes(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    gateway.merge(A, {"metadata": {"labels": {"extra": "1"}}})
    merged = gateway.merge(A, {"spec": {"parallelism": 3}, "metadata": {"labels": {"extra": None}}})
    spec = merged["spec"]
    assert (spec["parallelism"], spec["suspend"], dict(merged["metadata"]["labels"])) == (3, True, labels("t1"))


def test_merging_into_nothing_is_gone(gateway: ClusterGateway) -> None:
    with pytest.raises(Gone):
        gateway.merge(A, {"spec": {"suspend": False}})


def test_a_jobs_template_never_changes(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    seen = settled(gateway, A)
    other = {**seen, "spec": {**seen["spec"], "template": job("a", image="other")["spec"]["template"]}}
    with pytest.raises(Rejected, match="immutable"):
        gateway.replace(A, other)


def test_the_later_of_two_writers_has_a_conflict(gateway: ClusterGateway) -> None:
    ref = ObjectRef(Resource.DEPLOYMENT, "d", NAMESPACE)
    gateway.create(Resource.DEPLOYMENT, deployment("d"))
    seen = settled(gateway, ref)
    gateway.replace(ref, {**seen, "spec": {**seen["spec"], "paused": True}})
    with pytest.raises(Conflict):
        gateway.replace(ref, {**seen, "spec": {**seen["spec"], "minReadySeconds": 1}})


def test_deleting_what_is_not_there_is_success(gateway: ClusterGateway) -> None:
    gateway.delete(A)
    assert gateway.read(A) is None


def test_deleting_by_uid_spares_a_namesake(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    gateway.delete(A, uid="00000000-0000-0000-0000-000000000000")
    assert gateway.read(A) is not None


def test_deleting_by_its_own_uid_removes(gateway: ClusterGateway) -> None:
    created = gateway.create(Resource.JOB, job("a"))
    gateway.delete(A, uid=created["metadata"]["uid"])
    assert gateway.read(A) is None


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        (None, ["a", "b"]),
        ({"platform/task-id": "t1"}, ["a"]),
        ({"platform/task-id": "t1", "platform/attempt": "2"}, []),
        ("platform/task-id in (t1,t11)", ["a", "b"]),
        ("platform/task-id=t1", ["a"]),
        ("!platform/task-id", []),
    ],
)
def test_lists_by_label_equality_never_by_prefix(
    gateway: ClusterGateway, selector: str | None, names: list[str]
) -> None:
    gateway.create(Resource.JOB, job("a", task="t1"))
    gateway.create(Resource.JOB, job("b", task="t11"))
    page = gateway.list(Resource.JOB, namespace=NAMESPACE, selector=selector)
    assert sorted(item["metadata"]["name"] for item in page.items) == names


def test_a_watch_from_a_lists_version_misses_nothing_and_repeats_nothing(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("before"))
    settled(gateway, ObjectRef(Resource.JOB, "before", NAMESPACE))
    version = gateway.list(Resource.JOB).version
    gateway.create(Resource.JOB, job("a"))
    gateway.merge(A, {"spec": {"parallelism": 2}})
    gateway.delete(A)
    # The controllers may still have a word to say about what stood there before.
    heard = [told for told in collected(gateway, version) if told[1] == "a"]
    told = [change for change, _group in itertools.groupby(heard)]
    assert told == [(Change.ADDED, "a"), (Change.MODIFIED, "a"), (Change.DELETED, "a")]


def test_a_watch_hears_of_what_happens_while_it_is_open(gateway: ClusterGateway) -> None:
    version = gateway.list(Resource.JOB).version
    timer = threading.Timer(0.2, gateway.create, (Resource.JOB, job("a")))
    timer.start()
    told = collected(gateway, version)
    timer.join()
    assert told[0] == (Change.ADDED, "a")


def test_a_watch_goes_on_from_the_version_of_its_last_event(gateway: ClusterGateway) -> None:
    version = gateway.list(Resource.JOB).version
    gateway.create(Resource.JOB, job("a"))
    settled(gateway, A)
    *_before, last = gateway.watch(Resource.JOB, version, selector="platform/task-id", seconds=1)
    gateway.create(Resource.JOB, job("b"))
    assert collected(gateway, last.version)[0] == (Change.ADDED, "b")


def test_f16_a_version_that_is_no_longer_kept_is_gone(gateway: ClusterGateway, forget_history: object) -> None:
    version = gateway.list(Resource.JOB).version
    gateway.create(Resource.JOB, job("a"))
    assert callable(forget_history)
    forget_history()
    with pytest.raises(Gone):
        list(gateway.watch(Resource.JOB, version, seconds=1))


def test_f08_a_namespace_under_removal_takes_nothing_new(gateway: ClusterGateway, terminating: str) -> None:
    with pytest.raises(Exception, match="being terminated") as refused:
        gateway.create(Resource.JOB, job("late", space=terminating))
    assert (refused.value.transient, refused.value.reason) == (True, "NamespaceTerminating")  # type: ignore[attr-defined]  # a GatewayError


def test_a_nodes_labels_are_merged(gateway: ClusterGateway, made_node: str) -> None:
    merged = gateway.merge(ObjectRef(Resource.NODE, made_node), {"metadata": {"labels": {"platform/pool": "public"}}})
    expected = node(made_node)["metadata"]["labels"] | {"platform/pool": "public"}
    assert expected.items() <= dict(merged["metadata"]["labels"]).items()


def test_a_nodes_mark_is_written_and_taken_away_again_as_the_platform_does_it(
    gateway: ClusterGateway, made_node: str
) -> None:
    product = {"nvidia.com/gpu.product": "A100"}
    ref = ObjectRef(Resource.NODE, made_node)
    gateway.merge(ref, {"metadata": {"labels": {"platform/mark": None, **product}}})

    def after(mark: str | None) -> dict[str, str]:
        there = gateway.read(ref)
        assert there is not None
        changes = label_changes(there["metadata"]["labels"], pool=None, mark=mark, selector=product)
        kept: dict[str, str] = gateway.merge(ref, {"metadata": {"labels": changes}})["metadata"]["labels"]
        return kept

    assert after("a100-80g") == {**product, "platform/mark": "a100-80g", "platform/mark-written-by": "platform"}
    assert after(None) == product


def test_many_lists_are_read_whole(gateway: ClusterGateway) -> None:
    for number in range(12):
        gateway.create(Resource.JOB, job(f"j{number:02}", task="many"))
    page = gateway.list(Resource.JOB, selector={"platform/task-id": "many"})
    assert len({item["metadata"]["uid"] for item in page.items}) == 12


def test_the_log_of_a_pod_that_is_not_there_is_gone(gateway: ClusterGateway) -> None:
    with pytest.raises(Gone):
        list(gateway.logs(LogQuery(ObjectRef(Resource.POD, "nobody", NAMESPACE), "main")))
