"""Who may do what inside a scope (domain.md §13)."""

from __future__ import annotations

import pytest

from apps.organisations.domain.roles import Action, Role, may

OWNER = {Action.READ, Action.ACT_ON_TASKS, Action.MANAGE_MEMBERS, Action.REQUEST_QUOTA}


@pytest.mark.parametrize(
    ("role", "person", "allowed"),
    [
        (Role.OWNER, {}, OWNER),
        (Role.MEMBER, {}, {Action.READ, Action.ACT_ON_TASKS}),
        (Role.VIEWER, {}, {Action.READ}),
        (None, {}, set()),
        (None, {"is_admin": True}, OWNER),
        (Role.VIEWER, {"is_admin": True}, OWNER),
        (None, {"is_auditor": True}, {Action.READ}),
        (Role.MEMBER, {"is_auditor": True}, {Action.READ, Action.ACT_ON_TASKS}),
    ],
)
def test_what_each_may_do(role: Role | None, person: dict[str, bool], allowed: set[Action]) -> None:
    assert {action for action in Action if may(role, action, **person)} == allowed
