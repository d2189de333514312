"""Celery entry points of admission: a tick and a nudge, either alone is correct (architecture.md §4)."""

from __future__ import annotations

import structlog
from celery import shared_task

from apps.kernel.clock import SYSTEM_CLOCK
from apps.scheduling import selectors
from apps.scheduling.loop import run_or_follow

logger = structlog.get_logger(__name__)


@shared_task(name="scheduling.admit")
def admit() -> None:
    """Run one cycle now, or right after the one that is at work: that one may not see what this asks for."""
    run_or_follow(SYSTEM_CLOCK)


@shared_task(name="scheduling.check_books")
def check_books() -> None:
    """Report where ledger, sums and live tasks disagree; nothing is repaired in silence (domain.md §6)."""
    alarm = selectors.alarm()
    if alarm:
        logger.error(
            "the quota books disagree",
            drift=[(each.quota, each.held, each.ledger) for each in alarm.drift],
            holding=[str(task) for task in alarm.holding],
        )
