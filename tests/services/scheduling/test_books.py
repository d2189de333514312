"""The books compared with live tasks (domain.md §6): whatever a task goes through, nothing is left over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from apps.kernel.clock import SYSTEM_CLOCK
from apps.quotas.models import Quota
from apps.scheduling.background import check_books
from apps.scheduling.domain.needs import need_of, place_amounts
from apps.scheduling.loop import run_cycle
from apps.scheduling.selectors import Alarm, alarm
from apps.tasks.domain.spec import ResourceRequest
from apps.tasks.domain.splitting import placed_amounts
from apps.tasks.models import Task
from apps.tasks.selectors import mark_facts
from apps.tasks.services import lifecycle
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_container, a_spec

Verb = Callable[..., Task]


@pytest.mark.parametrize(
    "verbs",
    [
        (lifecycle.pause_task,),
        (lifecycle.pause_task, lifecycle.resume_task, lifecycle.stop_task),
        (lifecycle.stop_task, lifecycle.restart_task, lifecycle.delete_task),
    ],
)
def test_no_way_through_the_queue_leaves_something_held(world: World, now: datetime, verbs: tuple[Verb, ...]) -> None:
    """F06: after pause, stop or deletion use is the sum over live tasks."""
    world.a_plant()
    task = submit_task(a_spec(), by=world.alice, now=now)
    for verb in verbs:
        verb(task, by=world.alice, now=now)
    assert (alarm(), Quota.objects.get(resource="cards:rtx-4090").held) == (Alarm(), 0)


def test_an_admitted_task_is_in_order(world: World, now: datetime) -> None:
    world.a_plant()
    submit_task(a_spec(), by=world.alice, now=now)
    run_cycle(SYSTEM_CLOCK)
    assert not alarm()


def test_a_finished_task_that_still_holds_and_a_wrong_sum_are_reported(world: World, now: datetime) -> None:
    world.a_plant()
    task = submit_task(a_spec(), by=world.alice, now=now)
    Task.objects.update(state="failed", finished_at=now)
    Quota.objects.filter(resource="cards:rtx-4090").update(held=7)
    check_books()
    found = alarm()
    assert (found.holding, [(each.held, each.ledger) for each in found.drift]) == ((task.pk,), [(7, 1)])


@pytest.mark.parametrize("resources", [ResourceRequest("rtx-4090", 2, 3), ResourceRequest(nodes=2)])
def test_admission_and_resizing_book_the_same_place(world: World, resources: ResourceRequest) -> None:
    world.a_mark()
    spec = a_spec(resources=resources, containers=(a_container(cpu=500, memory=64),))
    marks = mark_facts()
    assert place_amounts(need_of(spec, marks)) == placed_amounts(spec, marks.get(resources.mark or ""))
