"""Submissions, cycles and people's verbs at the same time, on the real PostgreSQL."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import pytest

from apps.kernel.clock import SYSTEM_CLOCK
from apps.kernel.errors import Code, Refused
from apps.quotas import selectors as quotas
from apps.quotas.models import Quota, Reservation
from apps.scheduling.loop import run_cycle
from apps.scheduling.models import Admission
from apps.scheduling.selectors import alarm
from apps.scheduling.snapshot_reader import read_snapshot
from apps.tasks.models import Attempt, Task
from apps.tasks.services import lifecycle
from apps.tasks.services.submission import submit_task
from tests.support.racing import at_once
from tests.support.world import World, a_spec

CARDS = "cards:rtx-4090"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def racing_world(transactional_db: None, now: datetime) -> World:
    return World(now)


def submitting(world: World, name: str) -> partial[Task]:
    return partial(submit_task, a_spec(name), by=world.alice, now=world.now)


def test_eight_parallel_submissions_against_a_quota_of_four_give_exactly_four(racing_world: World) -> None:
    racing_world.a_plant(quota=4)
    results = at_once([submitting(racing_world, f"t{turn}") for turn in range(8)])
    refused = [result.refusal.code for result in results if isinstance(result, Refused)]
    assert (refused, Task.objects.count()) == ([Code.QUOTA_EXCEEDED] * 4, 4)
    assert (Quota.objects.get(resource=CARDS).held, quotas.ledger_drift()) == (4, ())


def test_a_double_submit_is_one_task_and_one_booking(racing_world: World) -> None:
    """The second gets the duplicate's 409, nothing half-made."""
    racing_world.a_plant()
    results = at_once([submitting(racing_world, "same")] * 4)
    refused = [result.refusal.code for result in results if isinstance(result, Refused)]
    assert (refused, Task.objects.count(), Attempt.objects.count()) == ([Code.DUPLICATE_NAME] * 3, 1, 1)
    assert (Reservation.objects.count(), Quota.objects.get(resource=CARDS).held) == (1, 1)


def test_parallel_cycles_admit_each_task_once(racing_world: World) -> None:
    racing_world.a_plant()
    for turn in range(6):
        submitting(racing_world, f"t{turn}")()
    at_once([partial(run_cycle, SYSTEM_CLOCK)] * 4)
    run_cycle(SYSTEM_CLOCK)
    assert (Admission.objects.count(), Task.objects.filter(state="starting").count()) == (6, 6)
    use = {node.name: node.used.cards for node in read_snapshot().nodes}
    assert (sum(use.values()), alarm().holding) == (6, ())


def test_pausing_while_a_cycle_runs_leaves_one_of_two_truths(racing_world: World) -> None:
    """Admitted and pausing, or paused in the queue: never admitted and paused with something held."""
    world = racing_world
    cluster = world.a_plant()
    own = world.a_pool("map-team", project=world.project)
    for turn in range(4):
        world.a_node(cluster, f"own-{turn}", pool=own, mark=world.mark, cards=1)
    tasks = [submitting(world, f"t{turn}")() for turn in range(4)]
    verbs = [partial(lifecycle.pause_task, task, by=world.alice, now=world.now) for task in tasks]
    results = at_once([*verbs, partial(run_cycle, SYSTEM_CLOCK)])
    faults = [result for result in results if isinstance(result, Exception) and not isinstance(result, Refused)]
    assert (faults, alarm().holding, quotas.ledger_drift()) == ([], (), ())
    placed = Attempt.objects.filter(admitted_at__isnull=False)
    assert set(placed.values_list("task__state", flat=True)) <= {"starting", "pausing"}
