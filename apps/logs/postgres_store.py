"""Log lines in PostgreSQL: one table partitioned by day of the line's own time, written by COPY.

Locking: a writer takes one advisory lock per Task shard, in shard order, before it draws arrival numbers. So numbers of
one Task become visible in rising order, and a reader who knows the newest one has missed none before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.logs.domain.lines import LineFilter, NewLine, Place, StoredLine
from apps.logs.store import Written

LOCK_CLASS = 7301
SHARDS = 64
SEARCH_MILLISECONDS = 10_000
_COLUMNS = "at_ns, arrival, attempt, pod_uid, instance, container, stream, text"
_INCOMING = """
CREATE TEMP TABLE incoming (
    ordinal int, at_ns bigint, task_id uuid, attempt int, pod_uid text, instance text, container text, stream text,
    text text, digest bytea
) ON COMMIT DROP
"""
_COPY = (
    "COPY incoming (ordinal, at_ns, task_id, attempt, pod_uid, instance, container, stream, text, digest) FROM STDIN"
)
_INSERT = """
WITH fresh AS (
    INSERT INTO logs_logline
        (at_ns, task_id, attempt, pod_uid, instance, container, stream, text, digest, arrival)
    SELECT sorted.*, nextval('logs_logline_arrival') FROM (
        SELECT at_ns, task_id, attempt, pod_uid, instance, container, stream, text, digest
        FROM incoming ORDER BY ordinal
    ) AS sorted
    ON CONFLICT (at_ns, digest) DO NOTHING
    RETURNING task_id, arrival
)
SELECT task_id, max(arrival), count(*) FROM fresh GROUP BY task_id
"""


class PostgresStore:
    """The port of ``apps.logs.store`` on the platform's own database."""

    def write(self, lines: Sequence[NewLine]) -> Written:
        if not lines:
            return Written(0, {})
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_INCOMING)
            with cursor.copy(_COPY) as copy:
                for ordinal, line in enumerate(lines):
                    copy.write_row(_row(ordinal, line))
            shards = sorted({UUID(line.source.task_id).int % SHARDS for line in lines})
            for shard in shards:
                cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, shard])
            cursor.execute(_INSERT)
            found = cursor.fetchall()
            # A second write in one outer transaction would find the table still there.
            cursor.execute("DROP TABLE incoming")
        return Written(sum(count for _, _, count in found), {task_id: newest for task_id, newest, _ in found})

    def forwards(self, task_id: UUID, wanted: LineFilter, *, after: Place, limit: int) -> list[StoredLine]:
        where, values = _where(task_id, wanted)
        return _read(
            f"{where} AND (at_ns, arrival) > (%s, %s) ORDER BY at_ns, arrival LIMIT %s",
            [*values, after.at_ns, after.arrival, limit],
            searched=bool(wanted.q),
        )

    def backwards(self, task_id: UUID, wanted: LineFilter, *, before: Place | None, limit: int) -> list[StoredLine]:
        where, values = _where(task_id, wanted)
        if before is not None:
            where, values = f"{where} AND (at_ns, arrival) < (%s, %s)", [*values, before.at_ns, before.arrival]
        newest_first = _read(
            f"{where} ORDER BY at_ns DESC, arrival DESC LIMIT %s", [*values, limit], searched=bool(wanted.q)
        )
        return newest_first[::-1]

    def nth_newest(self, task_id: UUID, wanted: LineFilter, count: int) -> Place | None:
        where, values = _where(task_id, wanted)
        found = _read(
            f"{where} ORDER BY at_ns DESC, arrival DESC OFFSET %s LIMIT 1",
            [*values, count - 1],
            searched=bool(wanted.q),
        )
        return found[0].place if found else None

    def arrivals(self, task_id: UUID, *, after: int, limit: int) -> list[StoredLine]:
        return _read("task_id = %s AND arrival > %s ORDER BY arrival LIMIT %s", [task_id, after, limit])

    def newest_arrival(self, task_id: UUID) -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT arrival FROM logs_logline WHERE task_id = %s ORDER BY arrival DESC LIMIT 1", [task_id]
            )
            found = cursor.fetchone()
        return found[0] if found else 0


def _row(ordinal: int, line: NewLine) -> tuple[Any, ...]:
    origin = line.source
    pod = (origin.task_id, origin.attempt, origin.pod_uid, origin.instance, origin.container, origin.stream)
    return (ordinal, line.at_ns, *pod, line.text, line.digest)


def _where(task_id: UUID, wanted: LineFilter) -> tuple[str, list[Any]]:
    """The condition of a filter; every value is a parameter, so the text of the condition is ours alone."""
    conditions: list[tuple[str, list[Any]]] = [("task_id = %s", [task_id])]
    if wanted.attempt is not None:
        conditions.append(("attempt = %s", [wanted.attempt]))
    if wanted.instance:
        conditions.append(("(instance = %s OR pod_uid = %s)", [wanted.instance, wanted.instance]))
    if wanted.container:
        conditions.append(("container = %s", [wanted.container]))
    if wanted.stream:
        conditions.append(("stream = %s", [wanted.stream]))
    if wanted.since_ns is not None:
        conditions.append(("at_ns >= %s", [wanted.since_ns]))
    if wanted.until_ns is not None:
        conditions.append(("at_ns < %s", [wanted.until_ns]))
    if wanted.q:
        conditions.append(("text ILIKE %s", [f"%{_literal(wanted.q)}%"]))
    return " AND ".join(text for text, _ in conditions), [value for _, values in conditions for value in values]


def _literal(text: str) -> str:
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


def _read(condition: str, values: list[Any], *, searched: bool = False) -> list[StoredLine]:
    with transaction.atomic(), connection.cursor() as cursor:
        if searched:
            # A search reads every line of the task; it must not hold a connection for as long as it likes.
            cursor.execute(f"SET LOCAL statement_timeout = {SEARCH_MILLISECONDS}")
        cursor.execute(f"SELECT {_COLUMNS} FROM logs_logline WHERE {condition}", values)  # noqa: S608 - our own text
        return [StoredLine(Place(row[0], row[1]), *row[2:]) for row in cursor.fetchall()]
