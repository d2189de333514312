"""One admission cycle at a time per platform: lock, read, decide, apply (domain.md §7)."""

from __future__ import annotations

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from apps.kernel.clock import Clock
from apps.scheduling.applier import apply
from apps.scheduling.domain.cycle import decide
from apps.scheduling.snapshot_reader import read_snapshot

CYCLE_LOCK = 5_001
NEXT_LOCK = 5_002
PATIENCE_SECONDS = 10.0


def run_cycle(clock: Clock) -> int | None:
    """Admit what fits now; how many tasks, or None when another cycle is at work."""
    with transaction.atomic():
        if not _ask("pg_try_advisory_xact_lock", CYCLE_LOCK):
            return None
        now = clock.now()
        return apply(decide(read_snapshot(), now), now=now)


def run_or_follow(clock: Clock, *, patience: float = PATIENCE_SECONDS) -> int | None:
    """Run a cycle; when one is at work, the next as soon as it ends, for it may have read before what asks for this.

    One that waits is enough for all who ask meanwhile: it has read nothing yet. None for them, and when ``patience``
    (seconds) runs out.
    """
    admitted = run_cycle(clock)
    if admitted is not None or not _next_in_line(patience):
        return admitted
    try:
        return run_cycle(clock)
    finally:
        _ask("pg_advisory_unlock", CYCLE_LOCK)


def _next_in_line(patience: float) -> bool:
    """Wait for the cycle's lock as the only one who waits; the place in line is free again before anything is read."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if not _ask("pg_try_advisory_xact_lock", NEXT_LOCK):
                return False
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [str(round(patience * 1000))])
            # Of the session, so that it outlives this transaction, which is the place in line.
            cursor.execute("SELECT pg_advisory_lock(%s)", [CYCLE_LOCK])
    except OperationalError as fault:
        if isinstance(fault.__cause__, LockNotAvailable):
            return False
        raise
    return True


def _ask(function: str, lock: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [lock])
        (answer,) = cursor.fetchone()
    return bool(answer)
