"""What the fields of the task form are called where a message stands apart from its field."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

FIELD_WORDS: Mapping[str, object] = {
    "display_name": _("Name"),
    "project": _("In whose name"),
    "priority": _("Priority"),
    "mark": _("Kind of card"),
    "cards_per_node": _("Cards per instance"),
    "nodes": _("Instances"),
    "shm": _("Shared memory (/dev/shm)"),
    "containers": _("Container"),
    "name": _("Name"),
    "image": _("Image"),
    "command": _("Command"),
    "args": _("Arguments"),
    "cpu": _("CPU"),
    "memory": _("Memory"),
    "cards": _("Cards"),
    "env": _("Variable"),
    "value": _("Value"),
    "ports": _("Port"),
    "port": _("Port"),
    "datasets": _("Dataset"),
    "claim": _("Claim"),
    "mount_path": _("Mounted at"),
    "read_only": _("Access"),
    "labels": _("Label"),
    "pending_timeout": _("Longest wait"),
    "on_preemption": _("When its place is taken"),
    "advanced": _("Advanced settings (JSON)"),
    "max_runtime": _("Longest runtime"),
    "backoff_limit": _("Retries"),
    "min_available": _("Needed to start"),
    "pre_stop_seconds": _("Pause before SIGTERM (seconds)"),
}
