"""Whose object it is, by label equality and never by name (domain.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TASK_ID = "platform/task-id"
ATTEMPT = "platform/attempt"
SCOPE = "platform/scope"
POOL = "platform/pool"


def labels_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object's labels; a cluster may send none, or null."""
    found = (manifest.get("metadata") or {}).get("labels")
    return found if isinstance(found, Mapping) else {}


def same_owner(standing: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether both belong to the same task and attempt, or both to none."""
    there, here = labels_of(standing), labels_of(wanted)
    return all(there.get(key) == here.get(key) for key in (TASK_ID, ATTEMPT))
