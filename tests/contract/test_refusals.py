"""What a cluster refuses and in which of our words; the same on every depth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.clusters.gateway.port import ClusterGateway, Conflict, Forbidden, Gone, ObjectRef, Rejected, Resource
from tests.contract.cases import (
    NAMESPACE,
    claim,
    deployment,
    job,
    labels,
    pod,
    priority_class,
    service,
)
from tests.contract.depths import Server, gateway_of
from tests.contract.waiting import present, settled, until

A = ObjectRef(Resource.JOB, "a", NAMESPACE)
D = ObjectRef(Resource.DEPLOYMENT, "d", NAMESPACE)
IN_SPACE = f"/api/v1/namespaces/{NAMESPACE}"


def with_spec(made: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**made, "spec": {**made["spec"], **changes}}


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}},
        {"spec": {"template": {"metadata": {"labels": {"platform/attempt": "2"}}}}},
        {"spec": {"completions": 2}},
    ],
    ids=["image", "labels", "completions"],
)
def test_what_a_running_job_is_made_of_never_changes(gateway: ClusterGateway, patch: dict[str, Any]) -> None:
    gateway.create(Resource.JOB, with_spec(job("a"), suspend=False))
    with pytest.raises(Rejected, match="immutable"):
        gateway.merge(A, patch)


def test_a_job_that_never_ran_may_be_sent_to_other_nodes(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    there = {"platform/mark": "a100-80g"}
    merged = gateway.merge(A, {"spec": {"template": {"spec": {"nodeSelector": there}}}})
    assert merged["spec"]["template"]["spec"]["nodeSelector"] == there


def test_whom_a_deployment_selects_never_changes(gateway: ClusterGateway) -> None:
    gateway.create(Resource.DEPLOYMENT, deployment("d"))
    with pytest.raises(Rejected, match=r"immutable|does not match"):
        gateway.merge(D, {"spec": {"selector": {"matchLabels": {"platform/attempt": "2"}}}})


def test_a_deployment_selects_the_pods_it_makes(gateway: ClusterGateway) -> None:
    with pytest.raises(Rejected, match="does not match"):
        gateway.create(Resource.DEPLOYMENT, with_spec(deployment("d"), selector={"matchLabels": labels("other")}))


def test_a_priority_never_changes(gateway: ClusterGateway) -> None:
    ref = ObjectRef(Resource.PRIORITY_CLASS, "contract")
    gateway.create(Resource.PRIORITY_CLASS, priority_class("contract", 5))
    with pytest.raises(Rejected, match=r"[Ii]mmutable|may not be changed in an update"):
        gateway.merge(ref, {"value": 6})
    gateway.delete(ref)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (with_spec(job("a"), parallelism=-1), "greater than or equal to 0"),
        (job("A_b"), "metadata.name"),
        (job("a" * 254), "metadata.name"),
        (with_spec(deployment("d"), replicas=-1), "greater than or equal to 0"),
    ],
    ids=["negative", "letters", "long", "replicas"],
)
def test_what_can_never_be_is_rejected_with_the_servers_words(
    gateway: ClusterGateway, wrong: dict[str, Any], said: str
) -> None:
    resource = Resource.JOB if wrong["kind"] == "Job" else Resource.DEPLOYMENT
    for dry_run in (True, False):
        with pytest.raises(Rejected, match=said):
            gateway.create(resource, wrong, dry_run=dry_run)


def test_a_dry_run_meets_the_conflict_that_the_real_run_would(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    with pytest.raises(Conflict):
        gateway.create(Resource.JOB, job("a", task="other"), dry_run=True)


def test_a_dry_run_in_a_namespace_that_is_not_there_is_gone(gateway: ClusterGateway) -> None:
    with pytest.raises(Gone):
        gateway.create(Resource.JOB, job("a", space="nowhere"), dry_run=True)


def test_an_unknown_namespace_is_empty_and_not_an_error(gateway: ClusterGateway) -> None:
    nowhere = ObjectRef(Resource.JOB, "a", "nowhere")
    gateway.delete(nowhere)
    assert (gateway.read(nowhere), list(gateway.list(Resource.JOB, namespace="nowhere").items)) == (None, [])


def test_replacing_what_is_not_there_is_gone(gateway: ClusterGateway) -> None:
    with pytest.raises(Gone):
        gateway.replace(A, job("a"))


def test_a_patch_of_an_old_version_is_a_conflict(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    old = settled(gateway, A)["metadata"]["resourceVersion"]
    gateway.merge(A, {"metadata": {"labels": {"extra": "1"}}})
    with pytest.raises(Conflict):
        gateway.merge(A, {"metadata": {"resourceVersion": old, "labels": {"extra": "2"}}})


def test_an_object_that_was_made_anew_does_not_take_what_was_meant_for_the_old_one(gateway: ClusterGateway) -> None:
    old = gateway.create(Resource.JOB, job("a"))
    gateway.delete(A)
    gateway.create(Resource.JOB, job("a"))
    now = settled(gateway, A)
    uid = {"uid": old["metadata"]["uid"]}
    with pytest.raises(Rejected, match=r"metadata\.uid.*field is immutable"):
        gateway.merge(A, {"metadata": uid | {"labels": {"extra": "2"}}})
    with pytest.raises(Conflict, match="UID in precondition"):
        gateway.replace(A, {**now, "metadata": {**now["metadata"], **uid}})


def test_a_patch_that_changes_nothing_writes_nothing(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    before = settled(gateway, A)
    after = gateway.merge(A, {"spec": {"suspend": True, "parallelism": 1}})
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_only_a_change_of_the_spec_counts_as_a_generation(gateway: ClusterGateway) -> None:
    gateway.create(Resource.DEPLOYMENT, deployment("d"))
    labelled = gateway.merge(D, {"metadata": {"labels": {"extra": "1"}}})
    scaled = gateway.merge(D, {"spec": {"paused": True}})
    assert (labelled["metadata"]["generation"], scaled["metadata"]["generation"]) == (1, 2)


def test_a_status_is_not_written_with_the_object(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    gateway.merge(A, {"status": {"succeeded": 7}})
    assert "succeeded" not in (present(gateway, A).get("status") or {})


@pytest.mark.parametrize("selector", ["a in b", "=", "a==b==c", "a in ()x", "a b"])
def test_what_is_no_selector_is_rejected(gateway: ClusterGateway, selector: str) -> None:
    with pytest.raises(Rejected):
        gateway.list(Resource.JOB, selector=selector)


def test_a_quota_of_the_clusters_administrator_ends_in_a_refusal_that_tells_it(
    gateway: ClusterGateway, server: Server
) -> None:
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"count/jobs.batch": "1"}}}
    server.http.post(f"{IN_SPACE}/resourcequotas", json=quota).raise_for_status()
    path = f"{IN_SPACE}/resourcequotas/few"
    until(lambda: (server.http.get(path).json().get("status") or {}).get("used"))
    gateway.create(Resource.JOB, job("a"))
    until(lambda: server.http.get(path).json()["status"]["used"] == {"count/jobs.batch": "1"})
    for dry_run in (True, False):
        with pytest.raises(Rejected, match=r"exceeded quota: few, requested: count/jobs.batch=1, used: .*=1, limited"):
            gateway.create(Resource.JOB, job("b"), dry_run=dry_run)


def test_a_priority_class_that_is_not_there_is_refused_with_its_name(
    gateway: ClusterGateway, server: Server, service_account: None
) -> None:
    with pytest.raises(Rejected, match="no PriorityClass with name nothing-such was found"):
        gateway.create(Resource.POD, pod("p", priorityClassName="nothing-such"))


def test_a_card_request_below_its_limit_is_refused(
    gateway: ClusterGateway, server: Server, service_account: None
) -> None:
    cards = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "4"}}
    made = pod("p", containers=[{"name": "main", "image": "busybox", "resources": cards}])
    with pytest.raises(Rejected, match=r"must be equal to nvidia.com/gpu limit of 4"):
        gateway.create(Resource.POD, made)


def test_a_field_that_nobody_knows_is_dropped(gateway: ClusterGateway, server: Server) -> None:
    made = gateway.create(Resource.JOB, with_spec(job("a"), nothingSuch=1))
    assert "nothingSuch" not in made["spec"]


def test_a_claims_size_never_shrinks(gateway: ClusterGateway, server: Server) -> None:
    gateway.create(Resource.PERSISTENT_VOLUME_CLAIM, claim("c"))
    smaller = {"spec": {"resources": {"requests": {"storage": "1Mi"}}}}
    with pytest.raises(Rejected, match="spec"):
        gateway.merge(ObjectRef(Resource.PERSISTENT_VOLUME_CLAIM, "c", NAMESPACE), smaller)


def test_a_services_type_is_one_of_four(gateway: ClusterGateway, server: Server) -> None:
    with pytest.raises(Rejected, match=r"spec.type"):
        gateway.create(Resource.SERVICE, with_spec(service("s"), type="Nothing"))


def test_an_account_that_the_cluster_does_not_know_is_forbidden(server: Server) -> None:
    stranger = gateway_of(replace(server.access, token="wrong"))
    with pytest.raises(Forbidden, match="Unauthorized") as refused:
        stranger.list(Resource.JOB)
    assert refused.value.status == 401


def test_an_account_without_the_right_is_forbidden_and_told_which(server: Server) -> None:
    if server.powerless is None:
        pytest.skip("the embedded cluster knows one account, which may do everything")
    with pytest.raises(Forbidden, match=r'cannot create resource "jobs" in API group "batch"') as refused:
        gateway_of(server.powerless).create(Resource.JOB, job("a"))
    assert refused.value.status == 403


def test_an_eviction_that_a_disruption_budget_forbids_is_too_many_requests(
    gateway: ClusterGateway, server: Server, made_node: str, service_account: None
) -> None:
    """The platform drains by stopping its own pods and never evicts, so the port has no such method: raw HTTP."""
    gateway.create(Resource.POD, pod("p", on=made_node))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    merge = {"Content-Type": "application/merge-patch+json"}
    server.http.patch(f"{IN_SPACE}/pods/p/status", json={"status": ready}, headers=merge).raise_for_status()
    budgets = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": labels("p1")}}
    server.http.post(budgets, json={"metadata": {"name": "keep"}, "spec": spec}).raise_for_status()
    until(lambda: (server.http.get(f"{budgets}/keep").json().get("status") or {}).get("currentHealthy") == 1)
    refused = server.http.post(f"{IN_SPACE}/pods/p/eviction", json={"metadata": {"name": "p"}})
    server.http.delete(f"{budgets}/keep").raise_for_status()
    assert (refused.status_code, refused.json()["reason"]) == (429, "TooManyRequests")
    assert [each["reason"] for each in refused.json()["details"]["causes"]] == ["DisruptionBudget"]
    assert server.http.post(f"{IN_SPACE}/pods/p/eviction", json={"metadata": {"name": "p"}}).status_code == 201
