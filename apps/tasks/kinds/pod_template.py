"""The pod that every kind runs: containers with their shares, volumes, priority, placement (domain.md §§4, 10)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from apps.kernel.errors import Refusal, Refused
from apps.kernel.quantities import format_cpu, format_memory
from apps.tasks.domain.naming import (
    ANNOTATION_RESTARTS,
    ANNOTATION_REVISION,
    ANNOTATION_SHAPE,
    LABEL_ATTEMPT,
    LABEL_SCOPE,
    LABEL_TASK,
)
from apps.tasks.domain.spec import ContainerSpec, TaskSpec, to_json
from apps.tasks.domain.splitting import Share, split
from apps.tasks.domain.wire import SHM_PATH
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.placement_rules import affinity, tolerations

Json = dict[str, Any]

DEFAULT_GRACE = 30
# What may change without touching a single pod: such a change scales or relabels, it never rolls out (F30).
_SHAPELESS = ("display_name", "project", "kind", "pending_timeout", "min_available", "on_preemption")


def shape(spec: TaskSpec) -> str:
    """A digest of everything in the spec that makes pods different; two specs of one shape differ in scale alone."""
    plain = {name: value for name, value in to_json(spec).items() if name not in _SHAPELESS}
    plain["resources"] = {**plain["resources"], "nodes": None}
    return hashlib.sha256(json.dumps(_said(plain), sort_keys=True).encode()).hexdigest()[:16]


def _said(value: Any) -> Any:
    """Only what the spec says: a field that a later program adds, unsaid, leaves every old shape as it is."""
    if isinstance(value, dict):
        return {name: _said(inner) for name, inner in value.items() if inner not in (None, [], {})}
    return [_said(inner) for inner in value] if isinstance(value, list) else value


def selector(given: ManifestInput) -> dict[str, str]:
    """The labels that find this attempt's pods and no others (equality, never a prefix)."""
    return {LABEL_TASK: given.task_id, LABEL_ATTEMPT: str(given.attempt)}


def labels(given: ManifestInput) -> dict[str, str]:
    return {**given.spec.labels, **selector(given), LABEL_SCOPE: given.scope}


def metadata(given: ManifestInput) -> Json:
    """Name, namespace, labels and the annotations by which the reconciler tells what is applied."""
    return {
        "name": given.object_name,
        "namespace": given.namespace,
        "labels": labels(given),
        "annotations": {
            ANNOTATION_REVISION: str(given.revision),
            ANNOTATION_SHAPE: shape(given.spec),
            ANNOTATION_RESTARTS: str(given.restart_count),
        },
    }


def _present(**values: object) -> Json:
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def _resources(share: Share, resource_name: str) -> Json:
    cards = {resource_name: str(share.cards)} if share.cards else {}
    return {
        "limits": {"cpu": format_cpu(share.cpu_limit), "memory": format_memory(share.memory_limit), **cards},
        "requests": {"cpu": format_cpu(share.cpu_request), "memory": format_memory(share.memory_request), **cards},
    }


def _volumes(spec: TaskSpec) -> tuple[list[Json], list[Json]]:
    """Volumes of the pod, and their mounts, which every container gets alike."""
    claims = sorted({mount.claim for mount in spec.datasets})
    names = {claim: f"dataset-{place}" for place, claim in enumerate(claims)}
    volumes: list[Json] = [{"name": names[claim], "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    mounts = [
        {"name": names[mount.claim], "mountPath": mount.mount_path} | ({"readOnly": True} if mount.read_only else {})
        for mount in spec.datasets
    ]
    if spec.shm is not None:
        volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": format_memory(spec.shm)}})
        mounts.append({"name": "shm", "mountPath": SHM_PATH})
    return volumes, mounts


def _container(container: ContainerSpec, resources: Json, mounts: list[Json], pre_stop: int) -> Json:
    sleep = {"preStop": {"exec": {"command": ["sleep", str(pre_stop)]}}} if pre_stop else {}
    return {"name": container.name, "image": container.image, "resources": resources} | _present(
        command=list(container.command),
        args=list(container.args),
        env=[{"name": name, "value": value} for name, value in container.env.items()],
        ports=[_present(containerPort=port.port, name=port.name) for port in container.ports],
        volumeMounts=[dict(mount) for mount in mounts],
        lifecycle=sleep,
    )


def _containers(given: ManifestInput, mounts: list[Json], pre_stop: int) -> list[Json]:
    shares = split(given.spec.containers, given.spec.resources, given.mark)
    if isinstance(shares, Refusal):
        raise Refused(shares)
    resource_name = given.mark.resource_name if given.mark is not None else ""
    return [
        _container(container, _resources(share, resource_name), mounts, pre_stop)
        for container, share in zip(given.spec.containers, shares, strict=True)
    ]


def _grace(advanced: Mapping[str, Any], pre_stop: int) -> int | None:
    """Long enough for preStop and a half minute after it: the kubelet counts both against the same clock."""
    asked: int | None = advanced.get("termination_grace_period_seconds")
    if not pre_stop:
        return asked
    return max(asked or 0, pre_stop + DEFAULT_GRACE)


def pod_template(given: ManifestInput, *, restart_policy: str = "", pre_stop: int = 0) -> Json:
    """The pod template; raises Refused where the spec cannot be split, which a checked spec never does."""
    spec, profile = given.spec, given.profile
    volumes, mounts = _volumes(spec)
    restarts = {ANNOTATION_RESTARTS: str(given.restart_count)} if given.restart_count else {}
    annotations = {**profile.annotations, **spec.advanced.get("annotations", {}), **restarts}
    grace = _grace(spec.advanced, pre_stop)
    pod: Json = {
        "containers": _containers(given, mounts, pre_stop),
        "priorityClassName": profile.priority_classes.get(spec.priority, f"platform-{spec.priority.value}"),
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
    } | _present(
        restartPolicy=restart_policy,
        schedulerName=profile.scheduler_name,
        nodeSelector=spec.advanced.get("node_selector"),
        affinity=affinity(given),
        tolerations=tolerations(given),
        hostAliases=spec.advanced.get("host_aliases"),
        volumes=volumes,
    )
    if grace is not None:
        pod["terminationGracePeriodSeconds"] = grace
    return {"metadata": {"labels": labels(given)} | _present(annotations=annotations), "spec": pod}
