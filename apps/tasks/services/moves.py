"""Moving a task from state to state by compare-and-set, and telling browsers after commit (style.md rule 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import F

from apps.accounts.models import User
from apps.live import publish
from apps.tasks.domain.states import FINAL, Intent, State
from apps.tasks.models import Event, EventSource, Task


def move(
    task: Task,
    *,
    expected: Iterable[State],
    to: State,
    now: datetime,
    reason: str | None = None,
    numbers: Mapping[str, Any] | None = None,
    **also: Any,
) -> bool:
    """Move the task to a state if it still stands in an expected one of the same attempt; False: somebody was first.

    The row in hand is refreshed, so its ``seq`` is that of this change.
    """
    changes: dict[str, Any] = {
        "state": to,
        "reason": reason or "",
        "reason_numbers": dict(numbers or {}),
        "reason_since": now if reason else None,
        "seq": F("seq") + 1,
        **also,
    }
    if to in FINAL:
        changes["finished_at"] = now
    rows = Task.objects.filter(pk=task.pk, attempt=task.attempt, state__in=[state.value for state in expected])
    moved = rows.update(**changes)
    if moved:
        task.refresh_from_db()
        publish.task_changed(task)
    return bool(moved)


def touch(task: Task, **changes: Any) -> None:
    """Change fields that are no state, and tell browsers."""
    Task.objects.filter(pk=task.pk).update(seq=F("seq") + 1, **changes)
    task.refresh_from_db()
    publish.task_changed(task)


def note(
    task: Task,
    token: str,
    *,
    now: datetime,
    by: User | None = None,
    numbers: Mapping[str, Any] | None = None,
    text: str = "",
    warning: bool = False,
) -> Event:
    """Write what happened into the task's history; without a person it is the platform's own doing."""
    return Event.objects.create(
        task=task,
        attempt=task.attempt,
        at=now,
        source=EventSource.PERSON if by else EventSource.PLATFORM,
        token=token,
        numbers=dict(numbers or {}),
        text=text,
        warning=warning,
        actor=by,
        seq=task.seq,
    )


def wants(task: Task, intent: Intent) -> bool:
    """Record what the owner wants; False when that was wanted already."""
    return bool(Task.objects.filter(pk=task.pk).exclude(intent=intent).update(intent=intent))
