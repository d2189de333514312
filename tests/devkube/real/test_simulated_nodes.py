"""Simulated nodes under the real scheduler and controllers: pods do what they say they do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from devkube.real.control_plane import ControlPlane
from devkube.real.simulated_nodes import SimulatedNodes
from tests.support.kubernetes import Obj, a_namespace, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def node(nodes: SimulatedNodes) -> Iterator[Obj]:
    """One node of 8 A100 cards."""
    yield nodes.add("sim-1", cards=8, mark="a100-80g", pool="map-team")
    nodes.remove("sim-1")


@pytest.fixture
def space(http: httpx.Client, node: Obj) -> Iterator[str]:
    """A namespace of the test's own."""
    name = a_namespace(http, f"sim-{next(_numbers)}")
    yield name
    http.delete(f"/api/v1/namespaces/{name}")


def a_pod(cards: int = 1, annotations: dict[str, str] | None = None, **env: str) -> Obj:
    """A pod template."""
    container: Obj = {"name": "main", "image": "busybox", "env": [{"name": k, "value": v} for k, v in env.items()]}
    container["resources"] = {"limits": {"nvidia.com/gpu": str(cards)}}
    here = {"kubernetes.io/hostname": "sim-1"}  # other tests have nodes on the same plane
    spec = {"restartPolicy": "Never", "containers": [container], "nodeSelector": here}
    return {"metadata": {"annotations": annotations or {}}, "spec": spec}


def a_job(http: httpx.Client, space: str, pod: Obj, **spec: Any) -> str:
    """Make a Job and return its path."""
    body = {"metadata": {"name": "work"}, "spec": {"backoffLimit": 0, "template": pod} | spec}
    http.post(f"/apis/batch/v1/namespaces/{space}/jobs", json=body).raise_for_status()
    return f"/apis/batch/v1/namespaces/{space}/jobs/work"


def ended(http: httpx.Client, job: str) -> list[tuple[str, str]]:
    """The conditions of a Job that is over, (type, reason)."""
    conditions = until(
        lambda: [c for c in http.get(job).json()["status"].get("conditions", []) if c["type"] in ("Complete", "Failed")]
    )
    return [(each["type"], each["reason"]) for each in conditions]


def pods(http: httpx.Client, space: str) -> list[Obj]:
    return list(http.get(f"/api/v1/namespaces/{space}/pods").json()["items"])


def test_a_node_has_the_cards_mark_and_pool_that_were_asked_for(node: Obj) -> None:
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    labels = {key: value for key, value in node["metadata"]["labels"].items() if key.startswith("platform/")}
    assert labels == {"platform/mark": "a100-80g", "platform/pool": "map-team"}


def test_a_job_succeeds_on_a_simulated_node(http: httpx.Client, space: str) -> None:
    job = a_job(http, space, a_pod(cards=2))
    assert ended(http, job) == [("Complete", "CompletionsReached")]
    (pod,) = pods(http, space)
    assert (pod["spec"]["nodeName"], pod["status"]["phase"]) == ("sim-1", "Succeeded")


@pytest.mark.parametrize(
    "pod",
    [
        a_pod(annotations={"devkube/exit-code": "137", "devkube/reason": "OOMKilled"}),
        a_pod(DEVKUBE_EXIT_CODE="137", DEVKUBE_REASON="OOMKilled", DEVKUBE_RUNS_FOR="200ms"),
    ],
    ids=["by annotation", "by environment"],
)
def test_a_job_fails_as_its_pod_says(http: httpx.Client, space: str, pod: Obj) -> None:
    job = a_job(http, space, pod)
    assert ended(http, job) == [("Failed", "BackoffLimitExceeded")]
    (seen,) = pods(http, space)
    over = seen["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (over["exitCode"], over["reason"]) == (137, "OOMKilled")


def test_a_pod_waits_for_the_reason_that_it_says(http: httpx.Client, space: str) -> None:
    a_job(http, space, a_pod(DEVKUBE_WAITING="ImagePullBackOff"))
    state = until(lambda: [s for pod in pods(http, space) for s in pod["status"].get("containerStatuses", [])])
    assert state[0]["state"] == {"waiting": {"reason": "ImagePullBackOff", "message": "simulated: ImagePullBackOff"}}


def test_a_suspended_job_keeps_its_pod_until_it_has_stopped(http: httpx.Client, space: str) -> None:
    job = a_job(http, space, a_pod(DEVKUBE_RUNS_FOR="1h", DEVKUBE_STOPS_AFTER="2s"))
    until(lambda: http.get(job).json()["status"].get("ready") == 1)
    merge = {"Content-Type": "application/merge-patch+json"}
    http.patch(job, json={"spec": {"suspend": True}}, headers=merge).raise_for_status()
    until(lambda: http.get(job).json()["status"].get("terminating") == 1)
    until(lambda: pods(http, space) == [])
    assert http.get(job).json()["status"].get("failed") is None


def test_a_pod_that_does_not_fit_is_told_why(http: httpx.Client, space: str) -> None:
    a_job(http, space, a_pod(cards=9))
    message = until(
        lambda: [
            c["message"] for pod in pods(http, space) for c in pod["status"].get("conditions", []) if "message" in c
        ]
    )
    assert "1 Insufficient nvidia.com/gpu" in message[0]


def test_killed_nodes_fall_silent_and_come_back(plane: ControlPlane, http: httpx.Client, nodes: SimulatedNodes) -> None:
    with SimulatedNodes(plane, "second", lease_seconds=4) as second:
        second.add("lost-1")
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/lost-1"

        def renewed() -> str:
            return str(http.get(lease).json()["spec"]["renewTime"])

        first = renewed()
        until(lambda: renewed() != first)
        second.kill()
        last = renewed()
        with pytest.raises(AssertionError):
            until(lambda: renewed() != last, 3)
        second.start()
        until(lambda: renewed() != last)
        second.remove("lost-1")
