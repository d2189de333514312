"""Hints to the worker, sent after commit: a lost one costs a tick, never a task (architecture.md §4)."""

from __future__ import annotations

from functools import partial

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from apps.tasks.models import Attempt

logger = structlog.get_logger(__name__)


def admit_soon() -> None:
    """Ask for an admission cycle once this transaction is through."""
    transaction.on_commit(partial(_send, "scheduling.admit"))


def reconcile_soon(attempt_pk: int) -> None:
    """Ask for a look at one attempt once this transaction is through."""
    transaction.on_commit(partial(_send, "tasks.reconcile", attempt_pk))


def ring(attempt_pk: int) -> None:
    """Have an attempt looked at now: its row says so, which the next tick finds, and a nudge hurries the worker."""
    Attempt.objects.filter(pk=attempt_pk).update(next_try_at=None)
    reconcile_soon(attempt_pk)


def _send(name: str, *args: int) -> None:
    try:
        current_app.send_task(name, args=args, expires=60, retry=False)
    except (OperationalError, RedisError, OSError) as fault:
        logger.warning("nudge not sent, the next tick will do", entry_point=name, fault=str(fault))
