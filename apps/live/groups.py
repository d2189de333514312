"""Names of channel groups: who hears of what. A name holds identities only, never text from a person."""

from __future__ import annotations

from uuid import UUID

EVERYTHING = "scope-all"
"""Heard by administrators and auditors, who may read every scope."""


def task_group(task_id: UUID) -> str:
    """Everyone looking at one Task."""
    return f"task-{task_id.hex}"


def project_group(project_id: int) -> str:
    """Everyone with a list that shows this Project's Tasks."""
    return f"scope-p{project_id}"


def user_group(user_id: int) -> str:
    """The person with a list that shows their personal Tasks."""
    return f"scope-u{user_id}"


def scope_group(project_id: int | None, owner_id: int) -> str:
    """The group of a Task's scope: its Project, else its owner."""
    return user_group(owner_id) if project_id is None else project_group(project_id)
