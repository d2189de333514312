"""Manifests that people bring along: refused like the API server refuses them, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from apps.kernel.errors import Refusal
from apps.tasks.domain.imported import manifest_refusal


def job(*resources: dict[str, Any], **pod: Any) -> dict[str, Any]:
    containers = [{"name": f"c{place}", "image": "a", "resources": one} for place, one in enumerate(resources or [{}])]
    spec = {"restartPolicy": "Never", "containers": containers, **pod}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": spec}}}


def faults(manifest: dict[str, Any]) -> dict[str, list[str]]:
    found = manifest_refusal(manifest)
    assert isinstance(found, Refusal)
    return {path.removeprefix("spec.template.spec."): list(messages) for path, messages in found.fields.items()}


def test_seed_a_its_sample_job_is_refused_because_a_request_is_above_its_limit() -> None:
    pi = {
        "limits": {"cpu": "14000m", "nvidia.com/gpu": 1, "memory": "51200Mi"},
        "requests": {"cpu": "1166m", "nvidia.com/gpu": 1, "memory": "2133Mi"},
    }
    pi2 = {
        "limits": {"cpu": "9333m", "nvidia.com/gpu": 1, "memory": "4200Mi"},
        "requests": {"cpu": "2333m", "nvidia.com/gpu": 1, "memory": "10666Mi"},
    }
    assert faults(job(pi, pi2)) == {"containers.1.resources.requests.memory": ["10666Mi is above the limit of 4200Mi"]}


def test_what_kubernetes_takes_is_taken() -> None:
    fine = {
        "limits": {"cpu": 1, "nvidia.com/gpu": "4"},
        "requests": {"cpu": "500m", "nvidia.com/gpu": 4, "memory": "1Gi"},
    }
    assert manifest_refusal(job(fine, {})) is None
    assert manifest_refusal({**job(fine, restartPolicy=None), "kind": "Deployment"}) is None


@pytest.mark.parametrize(
    ("resources", "name", "message"),
    [
        (
            {"limits": {"nvidia.com/gpu": 4}, "requests": {"nvidia.com/gpu": 1}},
            "nvidia.com/gpu",
            "must equal the limit of 4",
        ),
        ({"requests": {"nvidia.com/gpu": 1}}, "nvidia.com/gpu", "a limit is needed for nvidia.com/gpu"),
        ({"requests": {"cpu": True}}, "cpu", "“” is not a quantity; write for example 500m, 4 or 16Gi"),
        ({"requests": {"nvidia.com/gpu": "500m"}}, "nvidia.com/gpu", "pieces are whole numbers"),
    ],
)
def test_resources_that_kubernetes_refuses_are_refused(resources: dict[str, Any], name: str, message: str) -> None:
    assert faults(job(resources)) == {f"containers.0.resources.requests.{name}": [message]}


def test_seed_b_a_job_without_restart_policy_is_refused() -> None:
    assert faults(job(restartPolicy=None)) == {"restartPolicy": ["must be Never or OnFailure"]}


@pytest.mark.parametrize("containers", [None, [], "main", {}])
def test_a_pod_without_containers_is_refused(containers: object) -> None:
    assert faults(job(containers=containers)) == {"containers": ["at least one container is needed"]}


@pytest.mark.parametrize("manifest", [{}, {"spec": None}, {"spec": {"template": []}}])
def test_what_is_no_workload_is_refused_and_not_a_crash(manifest: dict[str, Any]) -> None:
    assert list(faults(manifest)) == ["containers"]
    assert manifest_refusal(job(containers=[None, 5])) is None
