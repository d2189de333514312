"""Which node a pod gets, why it waits, and whom it may displace."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.devkube.embedded.kit import FakeKubelet, Kube, cards, container, node, pod, until

Alone = tuple[Kube, httpx.Client]


def place(kube: Kube, name: str) -> str:
    return str(kube.get("pods", name)["spec"].get("nodeName", ""))


def scheduled(kube: Kube, name: str) -> str:
    return until(lambda: place(kube, name))


def message(kube: Kube, name: str) -> str:
    def read() -> str:
        found = kube.get("pods", name)["status"].get("conditions", [])
        return next((each["message"] for each in found if each.get("reason") == "Unschedulable"), "")

    return until(read)


def nodes(http: httpx.Client, *bodies: dict[str, object]) -> None:
    for body in bodies:
        assert http.post("/api/v1/nodes", json=body).status_code == 201
    until(lambda: all("taints" not in each["spec"] or _own(each) for each in http.get("/api/v1/nodes").json()["items"]))


def _own(body: dict[str, dict[str, list[dict[str, str]]]]) -> bool:
    return all("node.kubernetes.io" not in taint["key"] for taint in body["spec"]["taints"])


def classes(kube: Kube) -> None:
    for name, value in (("low", 500), ("normal", 1000)):
        kube.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})


def gpu_pod(name: str, number: int, **spec: Any) -> dict[str, Any]:
    return pod(name, containers=[container(**cards(number))], **spec)


def test_says_in_the_real_ones_words_why_a_pod_waits(alone: Alone) -> None:
    kube, http = alone
    nodes(http, node("n1", labels={"mark": "a"}), node("n2", labels={"mark": "a"}), node("n3"))
    kube.make("pods", gpu_pod("big", 5, nodeSelector={"mark": "a"}))
    assert message(kube, "big") == (
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu."
        " preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling,"
        " 2 No preemption victims found for incoming pod."
    )
    until(lambda: "FailedScheduling" in kube.reasons())


def test_with_no_nodes_at_all_it_says_so(alone: Alone) -> None:
    kube, http = alone
    kube.make("pods", pod("early"))
    assert message(kube, "early") == "no nodes available to schedule pods"
    nodes(http, node("n1"))
    assert scheduled(kube, "early") == "n1"


@pytest.mark.parametrize(
    ("term", "chosen"),
    [
        ({"key": "mark", "operator": "In", "values": ["b", "c"]}, "n2"),
        ({"key": "mark", "operator": "NotIn", "values": ["a"]}, "n2"),
        ({"key": "size", "operator": "Gt", "values": ["4"]}, "n2"),
        ({"key": "size", "operator": "Lt", "values": ["4"]}, "n1"),
        ({"key": "old", "operator": "Exists"}, "n1"),
        ({"key": "old", "operator": "DoesNotExist"}, "n2"),
    ],
)
def test_obeys_required_affinity(kube: Kube, term: dict[str, object], chosen: str) -> None:
    for number, labels in ((1, {"mark": "a", "size": "2", "old": "y"}), (2, {"mark": "b", "size": "8"})):
        about = {"set": kube.space, **labels}
        kube.post("/api/v1/nodes", node(f"{kube.space}-n{number}", labels=about))
    wanted = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}
    kube.make("pods", pod("picky", affinity=affinity, nodeSelector={"set": kube.space}))
    assert scheduled(kube, "picky") == f"{kube.space}-{chosen}"
    kube.http.delete("/api/v1/nodes", params={"labelSelector": f"set={kube.space}"})


def test_respects_taints_cordons_and_preferences(alone: Alone) -> None:
    kube, http = alone
    taint = {"key": "gpu", "value": "only", "effect": "NoSchedule"}
    nodes(http, node("n1", taints=[taint]), node("n2", unschedulable=True), node("n3"), node("n4", labels={"ssd": "y"}))
    term = {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}
    soft = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": term}]}
    kube.make("pods", pod("soft", affinity={"nodeAffinity": soft}))
    kube.make("pods", pod("tolerant", tolerations=[{"operator": "Exists"}], nodeSelector={"no": "where"}))
    assert scheduled(kube, "soft") == "n4"
    assert "4 node(s) didn't match Pod's node affinity/selector" in message(kube, "tolerant")
    kube.make("pods", gpu_pod("large", 9))
    said = message(kube, "large")
    for part in ("1 node(s) had untolerated taint {gpu: only}", "1 node(s) were unschedulable", "2 Insufficient"):
        assert part in said


def test_displaces_only_as_many_lower_pods_as_needed(alone: Alone) -> None:
    """F35: nothing goes for a pod that never fits; of the lower ones only those whose place is needed."""
    kube, http = alone
    classes(kube)
    with FakeKubelet(http, ["n1"]):
        for name in ("a", "b", "c"):
            kube.make("pods", gpu_pod(name, 1, priorityClassName="low", terminationGracePeriodSeconds=0))
            scheduled(kube, name)
        kube.make("pods", gpu_pod("never", 5, priorityClassName="normal"))
        message(kube, "never")
        assert [place(kube, name) for name in ("a", "b", "c")] == ["n1"] * 3
        kube.make("pods", gpu_pod("wants", 2, priorityClassName="normal"))
        assert scheduled(kube, "wants") == "n1"
    left = {each["metadata"]["name"] for each in kube.list("pods")}
    assert len(left & {"a", "b", "c"}) == 2
    assert "Preempted" in kube.reasons()


def test_tells_a_displaced_pod_why(alone: Alone) -> None:
    kube, http = alone
    classes(kube)
    nodes(http, node("n1"))
    kube.make("pods", gpu_pod("low", 4, priorityClassName="low"))
    scheduled(kube, "low")
    kube.make("pods", gpu_pod("normal", 4, priorityClassName="normal"))
    until(lambda: "deletionTimestamp" in kube.get("pods", "low")["metadata"])
    (why,) = [each for each in kube.get("pods", "low")["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert (why["status"], why["reason"]) == ("True", "PreemptionByScheduler")
    assert kube.get("pods", "normal")["status"]["nominatedNodeName"] == "n1"
    kube.remove(kube.path("pods", "low"), {"gracePeriodSeconds": 0})
    assert scheduled(kube, "normal") == "n1"


def test_equal_rank_and_policy_never_displace_nobody(alone: Alone) -> None:
    kube, http = alone
    classes(kube)
    nodes(http, node("n1"))
    kube.make("pods", gpu_pod("first", 4, priorityClassName="normal"))
    scheduled(kube, "first")
    kube.make("pods", gpu_pod("equal", 4, priorityClassName="normal"))
    kube.make("pods", gpu_pod("polite", 4, priority=None, preemptionPolicy="Never"))
    assert message(kube, "equal").endswith("1 No preemption victims found for incoming pod.")
    assert message(kube, "polite").endswith("preemption: not eligible due to preemptionPolicy=Never.")
    assert place(kube, "first") == "n1"


def test_fills_nodes_before_it_opens_new_ones(alone: Alone) -> None:
    kube, http = alone
    nodes(http, node("n1"), node("n2"))
    for number in range(5):
        kube.make("pods", gpu_pod(f"p{number}", 1))
    places = sorted(scheduled(kube, f"p{number}") for number in range(5))
    assert places == ["n1", "n1", "n1", "n1", "n2"]


def test_a_pod_waits_for_its_claim(kube: Kube, kubelet: FakeKubelet) -> None:
    kube.post("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "fast"}, "provisioner": "example.com/x"})
    source = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    kube.make("pods", pod("user", volumes=[source]))
    assert 'persistentvolumeclaim "data" not found' in message(kube, "user")
    body: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    body["resources"] = {"requests": {"storage": "1Gi"}}
    kube.make("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": body})
    scheduled(kube, "user")
    kube.remove(kube.path("persistentvolumeclaims", "data"))
    assert kube.get("persistentvolumeclaims", "data")["status"]["phase"] == "Bound"
    kube.remove(kube.path("pods", "user"), {"gracePeriodSeconds": 0})
    until(lambda: kube.gone("persistentvolumeclaims", "data"))
