"""apps/v1 Deployment and one v1 Service for its exposed ports (domain.md §2)."""

from __future__ import annotations

from typing import Any

from apps.clusters.gateway.port import Manifest
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.pod_template import metadata, pod_template, selector


def manifests(given: ManifestInput) -> tuple[Manifest, ...]:
    """The Deployment, then the Service if any port is exposed; paused is 0 replicas."""
    asked = given.spec.pre_stop_seconds
    pre_stop = given.profile.pre_stop_seconds if asked is None else asked
    advanced = given.spec.advanced
    spec: dict[str, Any] = {
        "replicas": 0 if given.paused else given.spec.resources.nodes,
        "selector": {"matchLabels": selector(given)},
        "template": pod_template(given, pre_stop=pre_stop),
    }
    rolling = {
        word: advanced[name]
        for word, name in (("maxSurge", "max_surge"), ("maxUnavailable", "max_unavailable"))
        if name in advanced
    }
    if rolling:
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    if "progress_deadline_seconds" in advanced:
        spec["progressDeadlineSeconds"] = advanced["progress_deadline_seconds"]
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(given), "spec": spec}
    return (deployment, *_services(given))


def _services(given: ManifestInput) -> tuple[Manifest, ...]:
    ports = [
        {"name": port.name or f"port-{port.port}", "port": port.port, "targetPort": port.port}
        for container in given.spec.containers
        for port in container.ports
    ]
    if not ports:
        return ()
    spec = {"selector": selector(given), "ports": ports}
    return ({"apiVersion": "v1", "kind": "Service", "metadata": metadata(given), "spec": spec},)
