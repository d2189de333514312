"""Pause, resume, restart, stop and delete as the owner sees them (domain.md §2)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from apps.kernel.errors import Code, Refused
from apps.quotas.models import Quota
from apps.tasks.models import Attempt, Task
from apps.tasks.services import lifecycle, placement
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec


def held() -> int:
    return Quota.objects.get(resource="cards:rtx-4090").held


@pytest.fixture
def task(world: World, now: datetime) -> Task:
    world.a_plant()
    return submit_task(a_spec(), by=world.alice, now=now)


def admitted(world: World, task: Task, now: datetime) -> Task:
    cluster, pool = world.cluster, world.pool
    assert placement.admit(
        task_id=task.pk,
        attempt_number=task.attempt,
        cluster_id=cluster.pk,
        pool_id=pool.pk,
        planned_nodes={"gpu-0": 1},
        keeps_quota_hold=True,
        now=now,
    )
    task.refresh_from_db()
    return task


def test_pausing_a_queued_task_is_done_at_once_and_gives_the_quota_back(
    world: World, task: Task, now: datetime
) -> None:
    lifecycle.pause_task(task, by=world.alice, now=now)
    assert (task.state, task.intent, task.reason, held()) == ("paused", "pause", "Paused", 0)


def test_pausing_what_runs_keeps_the_quota_until_its_pods_are_gone(world: World, task: Task, now: datetime) -> None:
    lifecycle.pause_task(admitted(world, task, now), by=world.alice, now=now)
    assert (task.state, held()) == ("pausing", 1)


def test_pausing_twice_is_harmless(world: World, task: Task, now: datetime) -> None:
    lifecycle.pause_task(task, by=world.alice, now=now)
    lifecycle.pause_task(task, by=world.alice, now=now)
    assert task.state == "paused"


def test_resuming_queues_and_holds_anew(world: World, task: Task, now: datetime) -> None:
    lifecycle.pause_task(task, by=world.alice, now=now)
    later = now + timedelta(hours=1)
    lifecycle.resume_task(task, by=world.alice, now=later)
    assert (task.state, task.queued_at, held()) == ("queued", later, 1)


def test_resuming_what_is_not_paused_is_refused(world: World, task: Task, now: datetime) -> None:
    with pytest.raises(Refused) as caught:
        lifecycle.resume_task(task, by=world.alice, now=now)
    assert caught.value.refusal.code is Code.INVALID_STATE


def test_stopping_a_queued_task_ends_it_at_once(world: World, task: Task, now: datetime) -> None:
    lifecycle.stop_task(task, by=world.alice, now=now)
    assert (task.state, task.finished_at, held()) == ("stopped", now, 0)


def test_stopping_what_runs_waits_for_the_cluster(world: World, task: Task, now: datetime) -> None:
    lifecycle.stop_task(admitted(world, task, now), by=world.alice, now=now)
    assert (task.state, task.finished_at, held()) == ("stopping", None, 1)


def test_restarting_begins_an_attempt_under_a_fresh_name(world: World, task: Task, now: datetime) -> None:
    """F08: the old pod may still be ending, so the new attempt never shares its name."""
    lifecycle.stop_task(task, by=world.alice, now=now)
    lifecycle.restart_task(task, by=world.alice, now=now)
    names = list(Attempt.objects.order_by("number").values_list("number", "object_name"))
    assert (task.state, task.attempt, held()) == ("queued", 2, 1)
    assert names == [(1, task.object_name), (2, f"{task.object_name}-2")]


def test_a_deleted_task_leaves_the_lists_and_frees_its_name(world: World, task: Task, now: datetime) -> None:
    lifecycle.delete_task(task, by=world.alice, now=now)
    again = submit_task(a_spec(), by=world.alice, now=now)
    assert (task.deleted_at, again.display_name, held()) == (now, "train-a", 1)


def test_an_old_decision_admits_nothing(world: World, task: Task, now: datetime) -> None:
    lifecycle.pause_task(task, by=world.alice, now=now)
    with pytest.raises(AssertionError):
        admitted(world, task, now)
    assert task.attempts.get().cluster is None
