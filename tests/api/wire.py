"""Bodies as scripts send them."""

from __future__ import annotations

from typing import Any


def a_job(name: str = "train-a", **changes: Any) -> dict[str, Any]:
    """rest.md's example: a one-card Job of the project."""
    return {
        "kind": "Job",
        "display_name": name,
        "project": "map-team",
        "priority": "normal",
        "resources": {"mark": "rtx-4090", "cards_per_node": 1, "nodes": 1},
        "containers": [a_container()],
        "shm": "1Gi",
        "pending_timeout": "30m",
    } | changes


def a_deployment(name: str = "serve-a", **changes: Any) -> dict[str, Any]:
    """A CPU-only service of two instances with a port."""
    return {
        "kind": "Deployment",
        "display_name": name,
        "project": "map-team",
        "resources": {"nodes": 2},
        "containers": [a_container(ports=[{"port": 8080, "name": "http"}])],
    } | changes


def a_container(name: str = "main", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "image": "registry/train:1",
        "command": ["sh", "-c", "echo hello"],
        "env": {"A": "1"},
        "cpu": "4",
        "memory": "16Gi",
    } | changes
