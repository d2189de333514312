"""Holding, giving back, resizing and limiting, on the real tables (domain.md §6)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction

from apps.audit.models import AuditEvent
from apps.kernel.errors import Code, Refusal, Refused
from apps.quotas import selectors, services
from apps.quotas.models import Quota, Release, Reservation
from tests.support.world import World

CARDS = "cards:rtx-4090"
TASK, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture
def quota(world: World) -> Quota:
    return world.a_quota(CARDS, 4, project=world.project)


def hold(world: World, amounts: dict[str, int], *, task: UUID = TASK, attempt: int = 1) -> Refusal | None:
    return services.hold(
        project=world.project, user=world.alice, amounts=amounts, task_id=task, attempt=attempt, now=world.now
    )


def adjust(world: World, amounts: dict[str, int], **also: Any) -> Refusal | None:
    return services.adjust(
        project=world.project, user=world.alice, amounts=amounts, task_id=TASK, attempt=1, now=world.now, **also
    )


def held(quota: Quota) -> int:
    quota.refresh_from_db()
    assert selectors.ledger_drift() == ()
    return quota.held


def test_a_hold_is_a_ledger_row_and_raises_the_sum(world: World, quota: Quota) -> None:
    assert hold(world, {CARDS: 3}) is None
    row = Reservation.objects.get()
    written = (row.quota_id, row.pool_id, row.task_id, row.attempt, row.resource, row.amount, row.at)
    assert (held(quota), written) == (3, (quota.pk, None, TASK, 1, CARDS, 3, world.now))


def test_a_refused_hold_names_the_numbers_and_the_holders_and_writes_nothing(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 3}, task=OTHER)
    refusal = hold(world, {CARDS: 2})
    assert refusal == Refusal(
        Code.QUOTA_EXCEEDED,
        "Not enough quota of cards:rtx-4090: 2 asked, 3 of 4 in use.",
        {},
        {"resource": CARDS, "asked": 2, "used": 3, "limit": 4, "holders": [str(OTHER)], "holder_count": 1},
    )
    assert (held(quota), Reservation.objects.count()) == (3, 1)


def test_a_missing_row_is_a_limit_of_nothing(world: World) -> None:
    """F04: no quota row at all; the error names the resource really exceeded."""
    refusal = hold(world, {CARDS: 1})
    assert refusal is not None
    assert (refusal.numbers["resource"], refusal.numbers["limit"], refusal.numbers["holders"]) == (CARDS, 0, [])


def test_a_cpu_task_never_meets_the_cards_quota(world: World) -> None:
    """F04: cards of 0 are counted in cpu and memory only."""
    world.a_quota(CARDS, 0, project=world.project)
    world.a_quota("cpu", 4000, project=world.project)
    assert hold(world, {"cpu": 4000, CARDS: 0}) is None


def test_all_amounts_or_none(world: World) -> None:
    cpu = world.a_quota("cpu", 4000, project=world.project)
    world.a_quota("memory", 100, project=world.project)
    refusal = hold(world, {"cpu": 4000, "memory": 101})
    assert refusal is not None
    assert (refusal.numbers["resource"], held(cpu)) == ("memory", 0)


def test_holding_twice_books_once(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 3})
    assert hold(world, {CARDS: 3}) is None
    assert (held(quota), Reservation.objects.count()) == (3, 1)


def test_a_personal_task_draws_on_the_persons_own_quota(world: World, quota: Quota) -> None:
    own = world.a_quota(CARDS, 1, user=world.alice)
    services.hold(project=None, user=world.alice, amounts={CARDS: 1}, task_id=TASK, attempt=1, now=world.now)
    assert (held(own), held(quota)) == (1, 0)


def test_releasing_twice_is_harmless(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 3})
    ended = [services.release(TASK, why="stopped", now=world.now) for _turn in range(2)]
    assert (ended, held(quota), Release.objects.get().why) == ([1, 0], 0, "stopped")


def test_releasing_the_quota_side_leaves_the_pools(world: World, quota: Quota) -> None:
    pool = world.a_pool("own", project=world.project)
    hold(world, {CARDS: 2})
    services.hold_pool(pool, {CARDS: 2}, TASK, 1, world.now)
    services.release(TASK, why="project pool", now=world.now, attempt=1, only="quota")
    assert (held(quota), selectors.pool_use()) == (0, {(pool.pk, CARDS): 2})


def test_releasing_one_attempt_leaves_the_next(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 1}, attempt=1)
    hold(world, {CARDS: 2}, attempt=2)
    services.release(TASK, why="restarted", now=world.now, attempt=1)
    assert held(quota) == 2


def test_use_is_the_wanted_size_after_scaling_down_and_up(world: World, quota: Quota) -> None:
    """F07: 20 → 10 → 20, whatever the pods do meanwhile."""
    Quota.objects.update(limit=20)
    hold(world, {CARDS: 20})
    uses = []
    for size in (10, 20, 0, 2):
        assert adjust(world, {CARDS: size}) is None
        uses.append(held(quota))
    assert uses == [10, 20, 0, 2]


def test_growing_past_the_limit_is_refused_and_changes_nothing(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 3})
    refusal = adjust(world, {CARDS: 5})
    assert refusal is not None
    assert {name: refusal.numbers[name] for name in ("asked", "used", "limit")} == {"asked": 2, "used": 3, "limit": 4}
    assert held(quota) == 3


def test_shrinking_is_allowed_under_an_overhang(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 4})
    services.set_limit(quota, 1, by=world.ada, now=world.now)
    assert adjust(world, {CARDS: 3}) is None
    assert held(quota) == 3


def test_resizing_what_holds_nothing_takes_nothing(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 2})
    services.release(TASK, why="paused", now=world.now)
    assert adjust(world, {CARDS: 4}) is None
    assert held(quota) == 0


def test_resizing_follows_in_the_pool_too(world: World, quota: Quota) -> None:
    pool = world.a_pool()
    hold(world, {CARDS: 2})
    services.hold_pool(pool, {CARDS: 2, "cpu": 40_000}, TASK, 1, world.now)
    adjust(world, {CARDS: 1}, pool_amounts={CARDS: 1, "cpu": 20_000})
    assert selectors.pool_use() == {(pool.pk, CARDS): 1, (pool.pk, "cpu"): 20_000}


def test_another_mark_moves_the_hold_to_another_quota(world: World, quota: Quota) -> None:
    other = world.a_quota("cards:a100-80g", 1, project=world.project)
    hold(world, {CARDS: 2})
    assert adjust(world, {"cards:a100-80g": 1}) is None
    assert (held(quota), held(other)) == (0, 1)


def test_a_limit_is_changed_with_its_audit_row(world: World, quota: Quota) -> None:
    changed = services.set_limit(quota, 9, by=world.ada, now=world.now, source="admin")
    event = AuditEvent.objects.get()
    assert (changed.limit, event.action, event.before, event.after) == (
        9,
        "quota.limit_set",
        {"limit": 4},
        {"limit": 9},
    )


def test_a_limit_below_its_use_stops_nobody_and_shows_the_overhang(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 4})
    services.set_limit(quota, 1, by=world.ada, now=world.now)
    (row,) = selectors.rows(Quota.objects.all())
    assert (row.limit, row.used, row.overhang, row.free) == (1, 4, 3, 0)
    assert hold(world, {CARDS: 1}, task=OTHER) is not None


@pytest.mark.parametrize("limit", [-1, 1.5, float("inf"), float("nan"), 2**53 + 1])
def test_what_is_no_limit_is_refused_at_the_field(world: World, quota: Quota, limit: Any) -> None:
    with pytest.raises(Refused) as caught:
        services.set_limit(quota, limit, by=world.ada, now=world.now)
    quota.refresh_from_db()
    assert (caught.value.refusal.code, list(caught.value.refusal.fields), quota.limit) == (Code.INVALID, ["limit"], 4)


def test_a_second_quota_of_the_same_scope_and_resource_is_refused(world: World, quota: Quota) -> None:
    with pytest.raises(Refused) as caught:
        services.add_quota(resource=CARDS, limit=1, project=world.project, by=world.ada, now=world.now)
    assert caught.value.refusal.code is Code.DUPLICATE_NAME


def test_a_quota_needs_exactly_one_scope_and_a_known_resource(world: World) -> None:
    with pytest.raises(Refused) as caught:
        services.add_quota(resource="cores", limit=-1, by=world.ada, now=world.now)
    assert sorted(caught.value.refusal.fields) == ["limit", "project", "resource"]


def test_a_new_scope_meets_the_default_quota_at_its_first_booking(world: World, settings: Any) -> None:
    settings.DEFAULT_QUOTA = "cpu=2,cards:rtx-4090=1"
    assert selectors.standings(world.project, world.alice)[CARDS].limit == 1
    assert hold(world, {CARDS: 1}) is None
    assert list(Quota.objects.values_list("project", "resource", "limit", "held")) == [
        (world.project.pk, CARDS, 1, 1),
        (world.project.pk, "cpu", 2000, 0),
    ]


def test_a_scope_with_a_row_is_not_new(world: World, quota: Quota, settings: Any) -> None:
    settings.DEFAULT_QUOTA = "cpu=2"
    assert hold(world, {"cpu": 1000}) is not None


def test_the_database_keeps_the_sum_from_going_below_nothing(world: World, quota: Quota) -> None:
    with pytest.raises(IntegrityError, match="quota_held_not_negative"), transaction.atomic():
        Quota.objects.filter(pk=quota.pk).update(held=-1)


def test_drift_between_sum_and_ledger_is_found(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 2})
    Quota.objects.update(held=3)
    (found,) = selectors.ledger_drift()
    assert (found.quota, found.held, found.ledger) == (quota.pk, 3, 2)


def test_what_no_pool_has_taken_in_is_held_by_pending(world: World, quota: Quota, now: datetime) -> None:
    pool = world.a_pool()
    hold(world, {CARDS: 1})
    hold(world, {CARDS: 2}, task=OTHER)
    services.hold_pool(pool, {CARDS: 2}, OTHER, 1, now)
    (row,) = selectors.rows(Quota.objects.all())
    assert (row.scope_kind, row.scope, row.used, row.held_by_pending, row.holders) == (
        "project",
        "map-team",
        3,
        1,
        (TASK, OTHER),
    )


@pytest.mark.parametrize("tasks", [1, 30])
def test_reading_quotas_costs_the_same_for_few_and_many(
    world: World, quota: Quota, tasks: int, django_assert_num_queries: Any
) -> None:
    Quota.objects.update(limit=100)
    for _turn in range(tasks):
        hold(world, {CARDS: 1}, task=uuid4())
    with django_assert_num_queries(2):
        assert len(selectors.rows(Quota.objects.all())[0].holders) == tasks


def test_a_new_quota_is_given_with_its_audit_row(world: World) -> None:
    quota = services.add_quota(resource="cpu", limit=5, user=world.alice, by=world.ada, now=world.now)
    event = AuditEvent.objects.get()
    assert (quota.user, quota.limit, event.action, event.after) == (
        world.alice,
        5,
        "quota.added",
        {"resource": "cpu", "limit": 5},
    )


def test_what_a_task_holds_is_told(world: World, quota: Quota) -> None:
    hold(world, {CARDS: 2})
    assert [(row.quota, row.amount) for row in selectors.held_by(TASK)] == [(quota, 2)]
