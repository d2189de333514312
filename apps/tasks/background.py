"""Celery entry points of the tasks; each may run twice, at once or not at all."""

from __future__ import annotations

from celery import current_app, shared_task

from apps.kernel import clock
from apps.tasks import reconciler
from apps.tasks.services import overdue, reconciliation


@shared_task(name="tasks.reconcile_due")
def reconcile_due() -> None:
    """Ask for a look at each attempt whose time has come, by a message of its own (F17)."""
    for attempt_pk in reconciliation.due(now=clock.now()):
        current_app.send_task("tasks.reconcile", args=(attempt_pk,), expires=15)


@shared_task(name="tasks.reconcile", time_limit=reconciliation.LONGEST_LOOK_SECONDS)
def reconcile(attempt_pk: int) -> None:
    """One look at one attempt."""
    reconciler.reconcile(attempt_pk)


@shared_task(name="tasks.end_overdue")
def end_overdue() -> None:
    """End what waited longer than its pending timeout allows."""
    overdue.end_overdue(now=clock.now())
