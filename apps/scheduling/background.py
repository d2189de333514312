"""Celery entry points of admission: a tick and a nudge, either alone is correct (architecture.md §4)."""

from __future__ import annotations

from celery import shared_task

from apps.kernel.clock import SYSTEM_CLOCK
from apps.scheduling.loop import run_cycle


@shared_task(name="scheduling.admit")
def admit() -> None:
    """Run one cycle; one that is at work already does not see what changed since, so the next tick does."""
    run_cycle(SYSTEM_CLOCK)
