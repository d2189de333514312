"""Submitting: stored, booked, told; or refused whole with the numbers (domain.md §6)."""

from __future__ import annotations

from datetime import datetime

import pytest

from apps.audit.models import AuditEvent
from apps.kernel.errors import Code, Refused
from apps.quotas.models import Quota, Reservation
from apps.tasks.domain.spec import Priority, ResourceRequest
from apps.tasks.models import Container, Task
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_container, a_spec


def test_a_submitted_task_waits_in_the_queue_and_holds_its_quota(world: World, now: datetime) -> None:
    world.a_plant()
    task = submit_task(a_spec(), by=world.alice, now=now)
    quota = Quota.objects.get(resource="cards:rtx-4090")
    assert (task.state, task.cards, task.attempt, quota.held) == ("queued", 1, 1, 1)
    assert list(Reservation.objects.values_list("task_id", "resource", "amount")) == [(task.pk, "cards:rtx-4090", 1)]


def test_the_split_is_stored_beside_the_revision(world: World, now: datetime) -> None:
    world.a_plant()
    containers = (a_container("train", cpu=14_000, memory=51_200), a_container("help", cpu=9_333, memory=4_200))
    submit_task(a_spec(containers=containers), by=world.alice, now=now)
    shares = list(Container.objects.values_list("name", "cpu_limit", "memory_limit", "cards"))
    assert shares == [("train", 12_000, 95_583, 1), ("help", 8_000, 7_841, 0)]


def test_more_than_the_quota_is_refused_with_the_numbers_and_stores_nothing(world: World, now: datetime) -> None:
    world.a_plant(quota=2)
    first = submit_task(a_spec(), by=world.alice, now=now)
    big = a_spec("big", resources=ResourceRequest(mark="rtx-4090", cards_per_node=2, nodes=1))
    with pytest.raises(Refused) as caught:
        submit_task(big, by=world.alice, now=now)
    refusal = caught.value.refusal
    assert refusal.code is Code.QUOTA_EXCEEDED
    numbers = {name: refusal.numbers[name] for name in ("resource", "asked", "used", "limit")}
    assert numbers == {"resource": "cards:rtx-4090", "asked": 2, "used": 1, "limit": 2}
    assert list(Task.objects.all()) == [first]


def test_low_and_high_tasks_hold_no_quota(world: World, now: datetime) -> None:
    world.a_plant(quota=0)
    submit_task(a_spec("low", priority=Priority.LOW), by=world.alice, now=now)
    submit_task(a_spec("high", priority=Priority.HIGH), by=world.alice, now=now)
    assert (Task.objects.count(), Reservation.objects.count()) == (2, 0)


def test_without_quota_a_task_that_the_own_pool_could_hold_is_queued_for_it(world: World, now: datetime) -> None:
    cluster = world.a_plant(quota=0)
    own = world.a_pool("map-team", project=world.project)
    world.a_node(cluster, "own-0", pool=own, mark=world.mark)
    task = submit_task(a_spec(), by=world.alice, now=now)
    assert (task.state, Reservation.objects.count()) == ("queued", 0)


def test_a_name_is_taken_while_its_task_lives(world: World, now: datetime) -> None:
    world.a_plant()
    submit_task(a_spec(), by=world.alice, now=now)
    with pytest.raises(Refused) as caught:
        submit_task(a_spec(), by=world.olga, now=now)
    assert caught.value.refusal.code is Code.DUPLICATE_NAME
    assert Quota.objects.get(resource="cards:rtx-4090").held == 1


def test_who_submitted_is_audited(world: World, now: datetime) -> None:
    world.a_plant()
    task = submit_task(a_spec(), by=world.alice, now=now, source="web")
    event = AuditEvent.objects.get(subject_id=str(task.pk))
    assert (event.action, event.actor, event.source) == ("task.submitted", world.alice, "web")
