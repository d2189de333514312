"""Celery's entry point of the logs."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from apps.kernel import clock
from apps.logs import partitions


@shared_task(name="logs.keep_partitions")
def keep_partitions() -> None:
    """Make the coming days of the log table and drop those past their retention; safe to run twice."""
    partitions.keep(clock.now().date(), retention_days=settings.LOG_RETENTION_DAYS)
