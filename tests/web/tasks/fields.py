"""What a browser sends of the task form."""

from __future__ import annotations

JOB = {
    "kind": "Job",
    "display_name": "train-a",
    "project": "map-team",
    "priority": "normal",
    "mark": "rtx-4090",
    "cards_per_node": "1",
    "nodes": "1",
    "containers-0-name": "main",
    "containers-0-image": "busybox:1.36",
    "containers-0-command": "sh -c 'echo hello'",
}
DEPLOYMENT = JOB | {
    "kind": "Deployment",
    "display_name": "web-a",
    "nodes": "2",
    "shm": "1Gi",
    "labels-0-name": "team",
    "labels-0-value": "map",
    "pending_timeout": "30m",
    "containers-0-cards": "1",
    "containers-0-args": "--fast 'two words'",
    "containers-0-env-0-name": "MODE",
    "containers-0-env-0-value": "<b>&",
    "containers-0-ports-0-port": "8080",
    "containers-0-ports-0-name": "http",
    "containers-2-name": "side",
    "containers-2-image": "busybox:2",
    "containers-2-cards": "0",
}
HOSTILE = (
    "<script>alert(1)</script>",
    "\u202eabc\u200f",
    "x" * 10_000,
    "a\x00b",
    "\U0001f600",
    "../../etc/passwd",
    "'\"; DROP TABLE tasks; --",
    "\ud7ff\uffff",
)
