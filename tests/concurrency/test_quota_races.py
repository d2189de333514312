"""Two connections and more racing for the same quota, on the real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from apps.kernel.errors import Refusal
from apps.quotas import selectors, services
from apps.quotas.models import Quota, Release, Reservation
from tests.support.racing import at_once
from tests.support.world import World

CARDS = "cards:rtx-4090"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def racing_world(transactional_db: None, now: datetime) -> World:
    return World(now)


def holding(world: World, amounts: dict[str, int], task: UUID) -> Callable[[], object]:
    return lambda: services.hold(
        project=world.project, user=world.alice, amounts=amounts, task_id=task, attempt=1, now=world.now
    )


def test_eight_parallel_holds_against_a_quota_of_four_give_exactly_four(racing_world: World) -> None:
    quota = racing_world.a_quota(CARDS, 4, project=racing_world.project)
    results = at_once([holding(racing_world, {CARDS: 1}, uuid4()) for _turn in range(8)])
    quota.refresh_from_db()
    assert sorted(type(result).__name__ for result in results) == ["NoneType"] * 4 + ["Refusal"] * 4
    assert (quota.held, Reservation.objects.count(), selectors.ledger_drift()) == (4, 4, ())


def test_parallel_releases_give_back_once(racing_world: World) -> None:
    quota = racing_world.a_quota(CARDS, 4, project=racing_world.project)
    task = uuid4()
    holding(racing_world, {CARDS: 3}, task)()
    results = at_once([lambda: services.release(task, why="stopped", now=racing_world.now) for _turn in range(8)])
    quota.refresh_from_db()
    assert sorted(results, key=str) == [0] * 7 + [1]
    assert (quota.held, Release.objects.count()) == (0, 1)


def test_asking_in_opposite_order_never_waits_in_a_circle(racing_world: World) -> None:
    racing_world.a_quota("cpu", 10**6, project=racing_world.project)
    racing_world.a_quota("memory", 10**6, project=racing_world.project)
    there, back = {"cpu": 1, "memory": 1}, {"memory": 1, "cpu": 1}
    results = at_once([holding(racing_world, amounts, uuid4()) for amounts in (there, back) * 6])
    assert results == [None] * 12
    assert list(Quota.objects.values_list("held", flat=True)) == [12, 12]


def test_resizing_and_releasing_the_same_task_never_waits_in_a_circle(racing_world: World) -> None:
    quota = racing_world.a_quota(CARDS, 50, project=racing_world.project)
    task = uuid4()
    holding(racing_world, {CARDS: 3}, task)()

    def resize(size: int) -> Refusal | None:
        return services.adjust(
            project=racing_world.project,
            user=racing_world.alice,
            amounts={CARDS: size},
            task_id=task,
            attempt=1,
            now=racing_world.now,
        )

    stop = partial(services.release, task, why="stopped", now=racing_world.now)
    results = at_once([partial(resize, 1), partial(resize, 5), stop, partial(resize, 7)])
    quota.refresh_from_db()
    assert [result for result in results if isinstance(result, Exception)] == []
    assert (quota.held, selectors.ledger_drift()) == (0, ())


def test_holding_twice_at_once_for_one_attempt_books_once(racing_world: World) -> None:
    quota = racing_world.a_quota(CARDS, 50, project=racing_world.project)
    task = uuid4()
    results = at_once([holding(racing_world, {CARDS: 3}, task)] * 4)
    quota.refresh_from_db()
    assert (results, quota.held) == ([None] * 4, 3)


def test_a_hold_that_is_rolled_back_leaves_room_for_the_waiting_one(racing_world: World) -> None:
    quota = racing_world.a_quota(CARDS, 1, project=racing_world.project)

    def undone() -> None:
        with transaction.atomic():
            holding(racing_world, {CARDS: 1}, uuid4())()
            transaction.set_rollback(True)

    undone()
    assert at_once([holding(racing_world, {CARDS: 1}, uuid4())]) == [None]
    quota.refresh_from_db()
    assert quota.held == 1
