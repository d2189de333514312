"""Quotas, disruption budgets, namespaces: what the cluster refuses."""

from __future__ import annotations

import time

from tests.devkube.embedded.kit import FakeKubelet, Kube, cards, container, deployment, job, node, pod, until


def quota(kube: Kube, **hard: str) -> None:
    kube.make("resourcequotas", {"metadata": {"name": "limit"}, "spec": {"hard": hard}})


def test_a_quota_refuses_with_its_numbers(kube: Kube) -> None:
    quota(kube, **{"requests.nvidia.com/gpu": "4"})
    body = pod("one", containers=[container(**cards(3))], nodeSelector={"no": "where"})
    kube.make("pods", body)
    answer = kube.post(kube.path("pods"), {**body, "metadata": {"name": "two"}})
    said = (
        'pods "two" is forbidden: exceeded quota: limit, requested: requests.nvidia.com/gpu=3,'
        " used: requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4"
    )
    assert (answer.status_code, answer.json()["message"]) == (403, said)
    expected = {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "3"}}
    until(lambda: kube.get("resourcequotas", "limit").get("status") == expected)
    kube.remove(kube.path("pods", "one"))
    assert kube.post(kube.path("pods"), {**body, "metadata": {"name": "two"}}).status_code == 201


def test_a_quota_of_cpu_wants_every_container_to_say_its_own(kube: Kube) -> None:
    quota(kube, **{"requests.cpu": "4", "limits.memory": "8Gi"})
    answer = kube.post(kube.path("pods"), pod("vague"))
    assert answer.status_code == 403
    said = "failed quota: limit: must specify limits.memory for: main; requests.cpu for: main"
    assert said in answer.json()["message"]


def test_a_job_over_quota_exists_but_gets_no_pods(kube: Kube, kubelet: FakeKubelet) -> None:
    quota(kube, pods="0")
    kube.make("jobs", job("blocked"))
    until(lambda: "FailedCreate" in kube.reasons())
    (event,) = [each for each in kube.list("events") if each["reason"] == "FailedCreate"]
    assert 'Error creating: pods "blocked-' in event["message"]
    assert "exceeded quota: limit, requested: pods=1, used: pods=0, limited: pods=0" in event["message"]


def test_an_eviction_asks_the_budget(kube: Kube, kubelet: FakeKubelet) -> None:
    kube.make("deployments", deployment("web"))
    body = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
    kube.make("poddisruptionbudgets", {"metadata": {"name": "two"}, "spec": body})
    until(lambda: kube.get("poddisruptionbudgets", "two").get("status", {}).get("currentHealthy") == 2)
    (first, *_) = kube.list("pods", labelSelector="app=web")
    name = first["metadata"]["name"]
    path, eviction = f"{kube.path('pods', name)}/eviction", {"metadata": {"name": name}}
    refused = kube.post(path, eviction)
    assert (refused.status_code, refused.json()["reason"]) == (429, "TooManyRequests")
    assert refused.json()["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget two needs 2 healthy pods and has 2 currently",
        }
    ]
    budget = kube.get("poddisruptionbudgets", "two")
    kube.http.put(kube.path("poddisruptionbudgets", "two"), json={**budget, "spec": {**body, "minAvailable": 1}})
    assert kube.post(path, eviction).status_code == 201
    until(lambda: kube.gone("pods", name))


def test_a_pod_without_a_node_goes_at_once_and_a_running_one_waits_for_its_node(kube: Kube) -> None:
    kube.make("pods", pod("nowhere", nodeSelector={"no": "where"}))
    assert kube.remove(kube.path("pods", "nowhere")).json()["metadata"]["name"] == "nowhere"
    assert kube.gone("pods", "nowhere")
    kube.post("/api/v1/nodes", node(f"{kube.space}-quiet"))
    kube.make("pods", pod("placed", nodeName=f"{kube.space}-quiet"))
    about = kube.remove(kube.path("pods", "placed"), {"gracePeriodSeconds": 120}).json()["metadata"]
    assert (about["deletionGracePeriodSeconds"], "deletionTimestamp" in about) == (120, True)
    assert not kube.gone("pods", "placed")
    kube.remove(kube.path("pods", "placed"), {"gracePeriodSeconds": 0})
    assert kube.gone("pods", "placed")


def test_a_namespace_empties_itself_and_takes_nothing_new(kube: Kube, kubelet: FakeKubelet) -> None:
    """F08: creation in a namespace that is being removed is refused with 403."""
    space = Kube(kube.http, f"{kube.space}-ends")
    space.post("/api/v1/namespaces", {"metadata": {"name": space.space}})
    space.make("configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
    space.make("deployments", deployment("web"))
    ending = space.remove(f"/api/v1/namespaces/{space.space}").json()
    assert ending["status"]["phase"] == "Terminating"
    refused = space.post(space.path("configmaps"), {"metadata": {"name": "late"}})
    assert (refused.status_code, refused.json()["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    until(lambda: not space.list("pods") and not space.list("deployments"))
    assert space.http.get(f"/api/v1/namespaces/{space.space}").status_code == 200
    space.patch(space.path("configmaps", "held"), {"metadata": {"finalizers": None}})
    until(lambda: space.http.get(f"/api/v1/namespaces/{space.space}").status_code == 404)


def test_what_names_an_owner_that_never_was_is_collected(kube: Kube) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "00000000-0000-0000-0000-000000000000"}
    kube.make("configmaps", {"metadata": {"name": "child", "ownerReferences": [owner]}})
    until(lambda: kube.gone("configmaps", "child"))


def test_a_refused_pod_is_tried_again_ever_more_slowly(kube: Kube) -> None:
    """Each refusal names another pod; that alone must not start the next attempt."""
    quota(kube, pods="0")
    kube.make("deployments", deployment("web", 1))
    until(lambda: "FailedCreate" in kube.reasons())
    time.sleep(1.0)
    failed = [each for each in kube.list("events") if each["reason"] == "FailedCreate"]
    assert failed[0]["involvedObject"]["kind"] == "ReplicaSet"
    assert 1 <= sum(each["count"] for each in failed) <= 5


def test_repeated_events_are_counted_in_one(kube: Kube, kubelet: FakeKubelet) -> None:
    kube.make("deployments", deployment("web", 1))
    path = f"{kube.path('deployments', 'web')}/scale"
    for replicas in (2, 1, 2, 1):
        kube.patch(path, {"spec": {"replicas": replicas}})
        until(lambda replicas=replicas: kube.list("replicasets")[0]["spec"]["replicas"] == replicas)  # type: ignore[misc] # the default binds the value
    scaled = {each["message"]: each["count"] for each in kube.list("events") if each["reason"] == "ScalingReplicaSet"}
    assert sorted(scaled.values()) == [1, 2, 2]
