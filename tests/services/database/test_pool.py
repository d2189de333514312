"""The pool of database connections after PostgreSQL has ended all of them, as a restart does."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

IDLE = 10
"""So many dead ones, one of which may be the test's own, would cost a caller more than its ten seconds of waiting."""


@pytest.mark.django_db(transaction=True)
def test_a_restart_of_the_database_costs_no_caller_its_time_limit() -> None:
    _leave_idle(IDLE)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        ended = cursor.fetchone()[0]
    with ThreadPoolExecutor(1) as caller:
        answer = caller.submit(_ask, 7).result()
    assert (ended >= IDLE - 1, answer) == (True, 7)


def _leave_idle(count: int) -> None:
    together = threading.Barrier(count)

    def hold(number: int) -> int:
        return _ask(number, together)

    with ThreadPoolExecutor(count) as callers:
        list(callers.map(hold, range(count)))


def _ask(number: int, together: threading.Barrier | None = None) -> int:
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT %s", [number])
            if together:
                together.wait(10)
            return int(cursor.fetchone()[0])
    finally:
        connections["default"].close()
