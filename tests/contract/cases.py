"""Objects that the contract cases create on any depth of cluster."""

from __future__ import annotations

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
