"""F13: the pending timeout counts queued and not-yet-running time only."""

from __future__ import annotations

from apps.clusters.gateway.port import ObjectRef, Resource
from apps.tasks.domain.states import Reason, State
from apps.tasks.services.lifecycle import pause_task, resume_task
from apps.tasks.services.overdue import NOTICE, end_overdue
from apps.tasks.services.placement import requeue
from tests.services.reconciler.plant import Plant, held
from tests.support.world import a_spec


def test_f13_a_task_that_waited_too_long_ends_and_holds_nothing(plant: Plant) -> None:
    task = plant.submit()
    plant.later(minutes=31)
    ended = end_overdue(now=plant.now)
    done = plant.fresh(task)
    assert (ended, done.state, done.reason, done.reason_numbers["waited"], held(plant.world)) == (
        1,
        State.FAILED,
        "PendingTimeout",
        1860,
        0,
    )


def test_f13_a_task_that_runs_after_29_minutes_is_never_ended_by_it(plant: Plant) -> None:
    task = plant.submit()
    plant.later(minutes=29)
    attempt = plant.admit(task)
    plant.reconcile(attempt)
    plant.pod(attempt)
    plant.observe()
    plant.later(minutes=40)
    assert (end_overdue(now=plant.now), plant.fresh(task).state) == (0, State.RUNNING)


def test_f13_paused_and_run_time_do_not_count(plant: Plant) -> None:
    task, attempt = plant.started()
    name = plant.pod(attempt)
    plant.observe()
    plant.later(minutes=20)
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    plant.memory.finish(ObjectRef(Resource.POD, name, attempt.namespace))
    plant.observe()
    plant.later(minutes=60)
    resume_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.later(minutes=20)
    assert (end_overdue(now=plant.now), plant.fresh(task).state) == (0, State.QUEUED)
    plant.later(minutes=11)
    assert end_overdue(now=plant.now) == 1


def test_f13_the_run_before_a_return_to_the_queue_does_not_count(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    plant.later(minutes=50)
    requeue(plant.fresh(task), now=plant.now, reason=Reason.PREEMPTED, numbers={}, pinned=True)
    plant.later(minutes=29)
    early = end_overdue(now=plant.now)
    plant.later(minutes=1)
    assert (early, end_overdue(now=plant.now), plant.fresh(task).reason) == (0, 1, "PendingTimeout")


def test_an_admitted_task_whose_pod_never_starts_ends_and_its_objects_go_at_once(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt, status={"phase": "Pending", "containerStatuses": None}, spec={"nodeName": None})
    plant.observe()
    plant.later(minutes=30)
    end_overdue(now=plant.now)
    plant.reconcile(attempt)
    assert (plant.fresh(task).state, plant.memory.everything(Resource.JOB)) == (State.FAILED, [])


def test_a_notice_is_given_once_at_80_percent(plant: Plant) -> None:
    task = plant.submit()
    for _tick in range(3):
        plant.later(minutes=8)
        end_overdue(now=plant.now)
    told = [(event.numbers, event.warning) for event in task.events.filter(token=NOTICE)]
    assert told == [({"waited": 1440, "limit": 1800}, True)]


def test_a_timeout_of_none_waits_for_ever(plant: Plant) -> None:
    task = plant.submit(a_spec(pending_timeout=0))
    plant.later(days=30)
    assert (end_overdue(now=plant.now), plant.fresh(task).state) == (0, State.QUEUED)
