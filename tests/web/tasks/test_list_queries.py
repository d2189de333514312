"""F32: the task list and the overview ask the database equally often for 10 and for 1,000 tasks."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.tasks.domain import spec as specs
from apps.tasks.models import Attempt, Task
from tests.support.world import World, a_spec


def _more(world: World, first: int, count: int) -> None:
    tasks = [
        Task(
            kind="Job",
            display_name=f"t-{number}",
            object_name=f"t-{number}-x",
            owner=world.alice,
            project=world.project,
            priority="normal",
            spec=specs.to_json(a_spec(f"t-{number}")),
            created_at=world.now,
            queued_at=world.now,
        )
        for number in range(first, first + count)
    ]
    Task.objects.bulk_create(tasks)
    Attempt.objects.bulk_create(
        Attempt(task=task, number=1, object_name=task.object_name, created_at=world.now) for task in tasks
    )


def _queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize("path", ["/tasks/", "/"])
def test_a_page_asks_as_often_for_a_thousand_tasks_as_for_ten(world: World, path: str) -> None:
    client = Client()
    client.force_login(world.alice, backend="django.contrib.auth.backends.ModelBackend")
    _more(world, 0, 10)
    client.get(path)
    few = _queries(client, path)
    _more(world, 10, 990)
    assert _queries(client, path) == few
