"""Deployments: rollout, scaling, rollback, with a played node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.devkube.embedded.kit import Kube, container, deployment, until

pytestmark = pytest.mark.usefixtures("kubelet")


def uids(kube: Kube, name: str) -> set[str]:
    return {
        pod["metadata"]["uid"]
        for pod in kube.list("pods", labelSelector=f"app={name}")
        if "deletionTimestamp" not in pod["metadata"]
    }


def done(kube: Kube, name: str, replicas: int) -> bool:
    found = kube.get("deployments", name)
    state = found["status"]
    counts = [state.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
    return counts == [replicas] * 3 and state["observedGeneration"] == found["metadata"]["generation"]


def start(kube: Kube, name: str, replicas: int = 2, **spec: Any) -> None:
    kube.make("deployments", deployment(name, replicas, **spec))
    until(lambda: done(kube, name, replicas))


def image(kube: Kube, name: str, tag: str) -> None:
    body = {"spec": {"template": {"spec": {"containers": [container(image=f"busybox:{tag}")]}}}}
    assert kube.patch(kube.path("deployments", name), body, "strategic").status_code == 200


def condition(kube: Kube, name: str, kind: str) -> tuple[str, str]:
    found = kube.get("deployments", name)["status"]["conditions"]
    return next((each["status"], each["reason"]) for each in found if each["type"] == kind)


def test_gets_the_defaults_of_the_real_server(kube: Kube) -> None:
    body = kube.make("deployments", deployment("plain", paused=True))["spec"]
    assert (body["revisionHistoryLimit"], body["progressDeadlineSeconds"]) == (10, 600)
    assert body["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    }


def test_comes_up_and_says_so(kube: Kube) -> None:
    start(kube, "web")
    assert condition(kube, "web", "Available") == ("True", "MinimumReplicasAvailable")
    assert condition(kube, "web", "Progressing") == ("True", "NewReplicaSetAvailable")
    (only,) = kube.list("replicasets")
    digest = only["metadata"]["labels"]["pod-template-hash"]
    assert only["metadata"]["name"] == f"web-{digest}"
    assert only["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert {"ScalingReplicaSet", "SuccessfulCreate"} <= kube.reasons()


def test_scaling_keeps_the_running_pods(kube: Kube) -> None:
    """F30: 2 → 5 → 2 leaves the two old pods in place."""
    start(kube, "web")
    old = uids(kube, "web")
    for replicas in (5, 2):
        kube.patch(f"{kube.path('deployments', 'web')}/scale", {"spec": {"replicas": replicas}})
        until(lambda replicas=replicas: done(kube, "web", replicas))  # type: ignore[misc] # the default binds the value
        assert old <= uids(kube, "web")
    until(lambda: uids(kube, "web") == old)


def test_rolls_to_a_new_image_and_back(kube: Kube) -> None:
    """F10: done only when everything is of the new template; a rollback brings the old ReplicaSet back."""
    start(kube, "web")
    first = kube.list("replicasets")[0]["metadata"]["name"]
    image(kube, "web", "2")
    until(lambda: len(kube.list("replicasets")) == 2 and done(kube, "web", 2))
    image(kube, "web", "1")
    until(lambda: kube.get("replicasets", first)["status"].get("availableReplicas") == 2 and done(kube, "web", 2))
    about = kube.get("replicasets", first)["metadata"]["annotations"]
    assert about["deployment.kubernetes.io/revision"] == "3"
    assert kube.get("deployments", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"


def test_a_broken_update_keeps_the_old_pods_and_times_out(kube: Kube) -> None:
    """F10: the new pods never get ready; the old ones serve on and Progressing turns False."""
    start(kube, "web", 4, progressDeadlineSeconds=1)
    body = {"metadata": {"annotations": {"plays": "sleep"}}}
    kube.patch(kube.path("deployments", "web"), {"spec": {"template": body}})
    until(lambda: condition(kube, "web", "Progressing") == ("False", "ProgressDeadlineExceeded"))
    state = kube.get("deployments", "web")["status"]
    assert (state["availableReplicas"], state["updatedReplicas"], state["replicas"]) == (3, 2, 5)
    assert condition(kube, "web", "Available")[0] == "True"


def test_recreate_waits_for_the_last_old_pod(kube: Kube) -> None:
    start(kube, "web", strategy={"type": "Recreate"})
    old = uids(kube, "web")
    image(kube, "web", "2")
    until(lambda: uids(kube, "web").isdisjoint(old) and done(kube, "web", 2))


def test_its_selector_is_fixed_and_must_match(kube: Kube) -> None:
    start(kube, "web", 0)
    refused = kube.patch(kube.path("deployments", "web"), {"spec": {"selector": {"matchLabels": {"x": "y"}}}})
    assert (refused.status_code, "field is immutable" in refused.json()["message"]) == (422, True)
    body = deployment("other")
    body["spec"]["selector"] = {"matchLabels": {"x": "y"}}
    answer = kube.post(kube.path("deployments"), body)
    assert "`selector` does not match template `labels`" in answer.json()["message"]


def test_a_deleted_pod_is_replaced(kube: Kube) -> None:
    start(kube, "web")
    (victim, *_) = kube.list("pods")
    kube.remove(kube.path("pods", victim["metadata"]["name"]))
    until(lambda: victim["metadata"]["uid"] not in uids(kube, "web") and len(uids(kube, "web")) == 2)


def test_removing_it_takes_everything_along(kube: Kube) -> None:
    start(kube, "web")
    kube.remove(kube.path("deployments", "web"))
    until(lambda: not kube.list("replicasets") and not kube.list("pods"))


def test_foreground_removal_lets_the_owner_go_last(kube: Kube) -> None:
    start(kube, "web")
    answer = kube.remove(kube.path("deployments", "web"), {"propagationPolicy": "Foreground"})
    assert answer.json()["metadata"]["finalizers"] == ["foregroundDeletion"]
    until(lambda: kube.gone("deployments", "web"))
    assert kube.list("replicasets") == []


def test_orphaning_sets_the_children_free(kube: Kube) -> None:
    start(kube, "web")
    kube.remove(kube.path("deployments", "web"), {"propagationPolicy": "Orphan"})
    until(lambda: kube.gone("deployments", "web"))
    (left,) = kube.list("replicasets")
    assert "ownerReferences" not in left["metadata"]
    assert len(uids(kube, "web")) == 2
