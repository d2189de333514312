"""A nudge that comes while a cycle is at work is neither lost nor run twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from django.db import connection, connections

from apps.kernel.clock import SYSTEM_CLOCK
from apps.scheduling.loop import CYCLE_LOCK, NEXT_LOCK, run_or_follow
from apps.tasks.models import Task
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec

pytestmark = pytest.mark.django_db(transaction=True)


class Busy:
    """Another process whose cycle has read its snapshot and is still at work."""

    def __init__(self) -> None:
        self._connection = connections.create_connection("default")
        self._ask("SELECT pg_advisory_lock(%s)")

    def end(self) -> None:
        self._ask("SELECT pg_advisory_unlock(%s)")

    def close(self) -> None:
        # A pooled session keeps its locks when its connection is given back.
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")
        self._connection.close()

    def _ask(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, [CYCLE_LOCK])


@pytest.fixture
def busy(transactional_db: None) -> Iterator[Busy]:
    other = Busy()
    yield other
    other.close()


def in_the_background(results: list[int | None]) -> threading.Thread:
    def run() -> None:
        try:
            results.append(run_or_follow(SYSTEM_CLOCK))
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 10
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def somebody_is_next() -> bool:
    with connection.cursor() as cursor:
        # Of this database alone: the tests' other workers have their own in the same server.
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE locktype = 'advisory' AND objid = %s AND datname = current_database()",
            [NEXT_LOCK],
        )
        (held,) = cursor.fetchone()
    return bool(held)


def test_what_came_while_a_cycle_was_at_work_is_admitted_right_after_it(busy: Busy, now: datetime) -> None:
    world = World(now)
    world.a_plant()
    results: list[int | None] = []
    waiting = in_the_background(results)
    until(somebody_is_next)
    submit_task(a_spec("late"), by=world.alice, now=now)
    assert run_or_follow(SYSTEM_CLOCK) is None
    assert Task.objects.get().state == "queued"
    busy.end()
    waiting.join(10)
    assert (results, Task.objects.get().state) == ([1], "starting")


def test_who_waited_leaves_no_lock_behind(busy: Busy) -> None:
    results: list[int | None] = []
    waiting = in_the_background(results)
    until(somebody_is_next)
    busy.end()
    waiting.join(10)
    assert (results, run_or_follow(SYSTEM_CLOCK), somebody_is_next()) == ([0], 0, False)


def test_a_cycle_that_never_ends_is_not_waited_for_for_ever(busy: Busy) -> None:
    assert run_or_follow(SYSTEM_CLOCK, patience=0.05) is None
    assert not somebody_is_next()
