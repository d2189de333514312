"""Days of the log table: made ahead, dropped past the retention, strays moved into their own day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection

from apps.logs import partitions, selectors
from apps.logs.ingest import ingest
from apps.tasks.models import Task
from tests.support.running import a_batch, a_running_task, a_shipping_cluster, written
from tests.support.world import World

TODAY = date(2027, 3, 1)


def partition_of_the_line(task: Task) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM logs_logline WHERE task_id = %s", [task.pk])
        return str(cursor.fetchone()[0])


@pytest.mark.django_db
def test_the_coming_days_are_made_once_and_old_ones_dropped() -> None:
    made, _ = partitions.keep(TODAY, retention_days=30)
    assert made == [TODAY + timedelta(days=offset) for offset in (-1, 0, 1, 2)]
    assert partitions.keep(TODAY, retention_days=30) == ([], [])
    _, dropped = partitions.keep(TODAY + timedelta(days=30), retention_days=30)
    assert dropped == [TODAY - timedelta(days=1)]


def test_a_line_of_a_day_without_partition_moves_into_it_once_it_is_made(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    ingest(cluster, a_batch(written(task, "early", timestamp="2027-03-02T00:00:00Z")), now=world.now)
    assert partition_of_the_line(task) == "logs_logline_default"
    partitions.keep(TODAY, retention_days=30)
    assert partition_of_the_line(task) == "logs_logline_20270302"
    assert [line.text for line in selectors.lines(task.pk).lines] == ["early"]


def test_strays_older_than_the_retention_are_deleted(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    ingest(cluster, a_batch(written(task, "ancient", timestamp="1999-01-01T00:00:00Z")), now=world.now)
    partitions.keep(TODAY, retention_days=30)
    assert selectors.lines(task.pk).lines == ()
