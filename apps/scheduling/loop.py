"""One admission cycle at a time per platform: lock, read, decide, apply (domain.md §7)."""

from __future__ import annotations

from django.db import connection, transaction

from apps.kernel.clock import Clock
from apps.scheduling.applier import apply
from apps.scheduling.domain.cycle import decide
from apps.scheduling.snapshot_reader import read_snapshot

CYCLE_LOCK = 5_001


def run_cycle(clock: Clock) -> int | None:
    """Admit what fits now; how many tasks, or None when another cycle is at work."""
    with transaction.atomic():
        if not _only_one():
            return None
        now = clock.now()
        return apply(decide(read_snapshot(), now), now=now)


def _only_one() -> bool:
    """Held until the transaction ends, whichever way it ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [CYCLE_LOCK])
        (taken,) = cursor.fetchone()
    return bool(taken)
