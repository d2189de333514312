"""Who may do what, as a table (domain.md §13)."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"


class Action(StrEnum):
    """What a person wants to do inside a scope."""

    READ = "read"
    ACT_ON_TASKS = "act_on_tasks"
    MANAGE_MEMBERS = "manage_members"
    REQUEST_QUOTA = "request_quota"


ALLOWED: dict[Role, frozenset[Action]] = {
    Role.OWNER: frozenset(Action),
    Role.MEMBER: frozenset({Action.READ, Action.ACT_ON_TASKS}),
    Role.VIEWER: frozenset({Action.READ}),
}


def may(role: Role | None, action: Action, *, is_admin: bool = False, is_auditor: bool = False) -> bool:
    """Whether someone with this role in the scope (None: a stranger) may do ``action`` there."""
    if is_admin:
        return True
    if is_auditor and action is Action.READ:
        return True
    return role is not None and action in ALLOWED[role]
