"""batch/v1 Job: ``nodes`` identical pods that run to their end (domain.md §§1, 2, 8)."""

from __future__ import annotations

from typing import Any

from apps.clusters.gateway.port import Manifest
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.pod_template import metadata, pod_template


def manifests(given: ManifestInput) -> tuple[Manifest, ...]:
    """The Job alone: disruptions never burn ``backoffLimit``; ``max_runtime`` counts from the start, not the queue."""
    nodes = given.spec.resources.nodes
    spec: dict[str, Any] = {
        "backoffLimit": given.spec.backoff_limit,
        "completions": nodes,
        "parallelism": nodes,
        "suspend": given.paused,
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "template": pod_template(given, restart_policy="Never"),
    }
    if nodes > 1:
        spec["completionMode"] = "Indexed"
    if given.spec.max_runtime is not None:
        spec["activeDeadlineSeconds"] = given.spec.max_runtime
    return ({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(given), "spec": spec},)
