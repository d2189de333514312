"""Objects that the contract cases create on any depth of cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMESPACE = "contract"


def namespace(name: str = NAMESPACE) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def labels(task: str, attempt: int = 1) -> dict[str, str]:
    return {"platform/task-id": task, "platform/attempt": str(attempt)}


def job(
    name: str, *, task: str = "t1", attempt: int = 1, image: str = "busybox", space: str = NAMESPACE
) -> dict[str, Any]:
    """A suspended Job, so that no controller makes pods of it while a case looks."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": space, "labels": labels(task, attempt)},
        "spec": {
            "suspend": True,
            "parallelism": 1,
            "completions": 1,
            "template": {
                "metadata": {"labels": labels(task, attempt)},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]},
            },
        },
    }


def deployment(name: str, *, task: str = "d1", replicas: int = 0) -> dict[str, Any]:
    chosen = labels(task)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": chosen},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {"labels": chosen},
                "spec": {"containers": [{"name": "main", "image": "busybox"}]},
            },
        },
    }


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"platform/mark": "rtx-4090"}}}


def pod(name: str, *, on: str = "", **spec: Any) -> dict[str, Any]:
    """A pod that nobody runs; ``on`` a node it stands there as if it were bound."""
    bound = {"nodeName": on} if on else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels("p1")},
        "spec": {"containers": [{"name": "main", "image": "busybox"}], **bound, **spec},
    }


def owned_by(owner: Mapping[str, Any], manifest: dict[str, Any], *, blocks: bool = False) -> dict[str, Any]:
    """The manifest, owned by an object that stands."""
    about = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": about["name"], "uid": about["uid"]}
    manifest["metadata"]["ownerReferences"] = [reference | ({"blockOwnerDeletion": True} if blocks else {})]
    return manifest


def service(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels("s1")},
        "spec": {"selector": labels("s1"), "ports": [{"port": 80}]},
    }


def claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def priority_class(name: str, value: int = 5) -> dict[str, Any]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**kind, "metadata": {"name": name}, "value": value}


def storage_class(name: str) -> dict[str, Any]:
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    return {**kind, "metadata": {"name": name}, "provisioner": "example.com/none"}


def event(name: str) -> dict[str, Any]:
    about = {"kind": "Job", "name": "a", "namespace": NAMESPACE}
    kind = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": NAMESPACE}}
    return {**kind, "involvedObject": about, "reason": "Tried", "message": "said", "type": "Normal"}
