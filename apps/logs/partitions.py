"""The days of ``logs_logline``: made ahead of time, dropped past their retention; strays have a partition too."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection, transaction

from apps.logs.domain.lines import to_nanoseconds

AHEAD = 2
_NAME = re.compile(r"^logs_logline_(\d{4})(\d{2})(\d{2})$")
# One keeper at a time; ingest never takes this lock.
LOCK_CLASS, KEEPER = 7302, 0


def keep(today: date, *, retention_days: int) -> tuple[list[date], list[date]]:
    """Make the days up to two ahead, drop those older than the retention; returns what was made and dropped (UTC)."""
    oldest = today - timedelta(days=retention_days)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, KEEPER])
        present = _present()
        wanted = [today + timedelta(days=offset) for offset in range(-1, AHEAD + 1)]
        made = [day for day in wanted if day not in present and day >= oldest]
        dropped = sorted(day for day in present if day < oldest)
    for day in made:
        _make(day)
    for day in dropped:
        _drop(day)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM logs_logline_default WHERE at_ns < %s", [_start(oldest)])
    return made, dropped


def _present() -> set[date]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid"
            " WHERE inhparent = 'logs_logline'::regclass"
        )
        names = [_NAME.match(name) for (name,) in cursor.fetchall()]
    return {date(int(found[1]), int(found[2]), int(found[3])) for found in names if found}


def _make(day: date) -> None:
    """A day of its own; lines of it that a fast clock brought early move out of the default partition first."""
    table, start, end = _table(day), _start(day), _start(day + timedelta(days=1))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, KEEPER])
        if day in _present():
            return
        cursor.execute("LOCK TABLE logs_logline IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(f"CREATE TABLE {table} (LIKE logs_logline INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
        moved = f"DELETE FROM logs_logline_default WHERE at_ns >= {start} AND at_ns < {end} RETURNING *"  # noqa: S608 - numbers
        cursor.execute(f"WITH moved AS ({moved}) INSERT INTO {table} SELECT * FROM moved")  # noqa: S608 - our own words
        cursor.execute(f"ALTER TABLE logs_logline ATTACH PARTITION {table} FOR VALUES FROM ({start}) TO ({end})")


def _drop(day: date) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_table(day)}")


def _table(day: date) -> str:
    return f"logs_logline_{day:%Y%m%d}"


def _start(day: date) -> int:
    return to_nanoseconds(datetime.combine(day, time(), tzinfo=UTC))
