"""What would happen if this were submitted now, and nothing stored (rest.md, preview)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.kernel.clock import SYSTEM_CLOCK
from apps.kernel.errors import Code
from apps.quotas.models import Reservation
from apps.scheduling.loop import run_cycle
from apps.scheduling.services import Preview, QuotaChange, Verdict, preview
from apps.tasks.domain.spec import Priority, ResourceRequest, TaskSpec
from apps.tasks.models import Task
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec

CARDS = "cards:rtx-4090"


def cards(count: int, nodes: int = 1) -> ResourceRequest:
    return ResourceRequest(mark="rtx-4090", cards_per_node=count, nodes=nodes)


def previewed(world: World, spec: TaskSpec | None = None) -> Preview:
    return preview(spec or a_spec(), by=world.alice, now=world.now)


def test_a_task_that_fits_starts_now(world: World) -> None:
    world.a_plant()
    answer = previewed(world)
    assert (answer.verdict, answer.cluster, answer.pool, answer.refusal) == (
        Verdict.STARTS_NOW,
        "beijing",
        "public",
        None,
    )
    assert answer.quota == (QuotaChange(CARDS, limit=16, before=0, asked=1),)
    assert [(share.cpu_limit, share.cards) for share in answer.shares] == [(20_000, 1)]
    assert [card.chosen for card in answer.cards] == [True]
    assert answer.manifests[0]["kind"] == "Job"


def test_nothing_is_stored(world: World) -> None:
    world.a_plant()
    previewed(world)
    assert (Task.objects.count(), Reservation.objects.count()) == (0, 0)


def test_a_task_that_must_wait_is_told_why_and_its_position(world: World, now: datetime) -> None:
    world.a_plant(cards_of=1)
    submit_task(a_spec("big", resources=cards(8)), by=world.alice, now=now)
    run_cycle(SYSTEM_CLOCK)
    answer = previewed(world)
    assert (answer.verdict, answer.reason, answer.numbers["position"]) == (Verdict.QUEUES, "PoolFull", 1)
    assert (answer.numbers["needed"], answer.numbers["free"]) == (1, 0)


def test_what_waits_already_comes_first(world: World, now: datetime) -> None:
    world.a_plant(cards_of=1)
    submit_task(a_spec("before", resources=cards(8)), by=world.alice, now=now)
    assert previewed(world).verdict is Verdict.QUEUES


def test_more_than_the_quota_is_refused_with_before_and_after(world: World) -> None:
    world.a_plant(quota=2)
    answer = previewed(world, a_spec(resources=cards(3)))
    assert answer.refusal is not None
    assert (answer.verdict, answer.refusal.code) == (Verdict.REFUSED, Code.QUOTA_EXCEEDED)
    assert [(change.after, change.short_by) for change in answer.quota] == [(3, 1)]


def test_in_the_own_pool_no_quota_is_held(world: World) -> None:
    cluster = world.a_plant(quota=0)
    own = world.a_pool("map-team", project=world.project)
    world.a_node(cluster, "own-0", pool=own, mark=world.mark)
    answer = previewed(world)
    assert (answer.verdict, answer.pool, answer.quota) == (Verdict.STARTS_NOW, "map-team", ())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"resources": ResourceRequest(mark="rtx-9999", cards_per_node=1)}, Code.UNKNOWN_MARK),
        ({"resources": cards(9)}, Code.IMPOSSIBLE_REQUEST),
        ({"resources": ResourceRequest()}, Code.INVALID),
        ({"min_available": 1}, Code.INVALID),
    ],
)
def test_what_a_submission_refuses_the_preview_refuses(world: World, changes: dict[str, Any], code: Code) -> None:
    """F05: told before anything is stored."""
    world.a_plant()
    answer = previewed(world, a_spec(**changes))
    assert (answer.verdict, answer.refusal.code if answer.refusal else None) == (Verdict.REFUSED, code)


def test_a_taken_name_is_told_before_the_submission(world: World, now: datetime) -> None:
    world.a_plant()
    submit_task(a_spec(), by=world.alice, now=now)
    answer = previewed(world)
    assert (answer.verdict, answer.refusal.code if answer.refusal else None) == (Verdict.REFUSED, Code.DUPLICATE_NAME)


def test_low_and_high_change_no_quota(world: World) -> None:
    world.a_plant(quota=0)
    assert previewed(world, a_spec(priority=Priority.LOW)).quota == ()
    assert previewed(world, a_spec(priority=Priority.HIGH)).reason == "NoCapableCluster"


def test_only_who_may_submit_may_preview(world: World, now: datetime) -> None:
    world.a_plant()
    with pytest.raises(Http404):
        preview(a_spec(), by=world.charlie, now=now)
    with pytest.raises(PermissionDenied):
        preview(a_spec(), by=world.victor, now=now)


@pytest.mark.parametrize("tasks", [1, 12])
def test_a_preview_costs_the_same_with_few_and_many_tasks(
    world: World, now: datetime, tasks: int, django_assert_max_num_queries: Any
) -> None:
    world.a_plant()
    for turn in range(tasks):
        submit_task(a_spec(f"t{turn}"), by=world.alice, now=now)
    with django_assert_max_num_queries(16):
        previewed(world)
