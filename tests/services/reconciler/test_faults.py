"""What a reconciler meets: refusals, silence, races, namespaces that go."""

from __future__ import annotations

from typing import Any

import pytest

from apps.clusters.gateway import registry
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import Conflict, Forbidden, ObjectRef, Rejected, Resource, Transient
from apps.quotas.models import Release
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt
from apps.tasks.services import reconciliation
from apps.tasks.services.lifecycle import delete_task, stop_task
from tests.services.reconciler.plant import Plant, a_deployment, held, open_bookings
from tests.support.world import a_spec


def test_a_refused_job_ends_as_failed_with_the_clusters_message_and_holds_nothing(plant: Plant) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    plant.memory.fail_next(Rejected("spec.template: Invalid value", 422), call="create batch")
    plant.reconcile(attempt)
    ended = plant.fresh(task)
    told = task.events.get(token="Failed")
    assert (ended.state, ended.reason, ended.reason_numbers["message"]) == (
        State.FAILED,
        "Rejected",
        "spec.template: Invalid value",
    )
    assert (held(plant.world), open_bookings(task), told.text) == (0, 0, "spec.template: Invalid value")


def test_what_was_created_before_a_refusal_is_removed(plant: Plant) -> None:
    task = plant.submit(a_deployment())
    attempt = plant.admit(task)
    plant.memory.fail_next(Rejected("exceeded quota: services", 403), call="create v1/services")
    for _tick in range(3):
        plant.reconcile(attempt)
        plant.later(seconds=5)
    left = [plant.memory.everything(kind) for kind in (Resource.DEPLOYMENT, Resource.SERVICE)]
    assert (left, plant.fresh(task).state, plant.fresh_attempt(attempt).removed_at is None) == (
        [[], []],
        State.FAILED,
        False,
    )


def test_a_refused_change_leaves_what_serves_as_it_is_and_is_told_once(plant: Plant) -> None:
    task, attempt = plant.started()
    for _tick in range(3):
        plant.memory.fail_next(Rejected("no", 422), call="list batch")
        plant.reconcile(attempt)
        plant.later(minutes=6)
    assert (plant.fresh(task).state, task.events.filter(token="Rejected").count()) == (State.STARTING, 1)


@pytest.mark.parametrize(
    "error", [Transient("timed out"), Forbidden("Unauthorized", 401), Conflict("somebody was first", 409)]
)
def test_what_may_pass_is_tried_again_later_and_later(plant: Plant, error: Exception) -> None:
    attempt = plant.admit(plant.submit())
    pauses = []
    for _try in range(4):
        plant.memory.fail_next(error, call="create batch")
        plant.reconcile(attempt)
        due = plant.fresh_attempt(attempt).next_try_at
        assert due is not None
        pauses.append(round((due - plant.now).total_seconds()))
        plant.now = due
    plant.reconcile(attempt)
    assert (pauses, len(plant.memory.everything(Resource.JOB))) == ([2, 4, 8, 16], 1)


def test_the_wait_that_the_cluster_asks_for_is_kept(plant: Plant) -> None:
    attempt = plant.admit(plant.submit())
    plant.memory.fail_next(Transient("slow down", 429, retry_after=33), call="create batch")
    plant.reconcile(attempt)
    assert reconciliation.due(now=plant.now) == []
    plant.later(seconds=33)
    assert reconciliation.due(now=plant.now) == [attempt.pk]


def test_f15_a_stop_while_the_cluster_is_away_holds_on_until_it_is_seen_gone(plant: Plant) -> None:
    task, attempt = plant.started()
    name = plant.pod(attempt)
    plant.observe()
    plant.memory.go_dead()
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    delete_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    for _minute in range(10):
        plant.reconcile(attempt)
        plant.later(minutes=1)
    away = plant.fresh(task)
    plant.memory.revive()
    plant.reconcile(attempt)
    plant.memory.finish(ObjectRef(Resource.POD, name, attempt.namespace))
    plant.observe()
    back = plant.fresh(task)
    assert (away.state, away.reason, away.finished_at) == (State.STOPPING, "ClusterUnreachable", None)
    assert (back.state, back.finished_at, held(plant.world)) == (State.STOPPED, plant.now, 0)
    assert Release.objects.get(reservation__task_id=task.pk).at == plant.now


def test_a_task_whose_cluster_never_answers_is_queued_for_the_others_in_its_old_place(plant: Plant) -> None:
    task = plant.submit()
    queued_at = plant.fresh(task).queued_at
    attempt = plant.admit(task)
    plant.memory.go_dead()
    for _minute in range(6):
        plant.reconcile(attempt)
        plant.later(minutes=1)
    queued = plant.fresh(task)
    plant.memory.revive()
    plant.reconcile(attempt)
    assert (queued.state, queued.attempt, queued.queued_at, held(plant.world)) == (State.QUEUED, 2, queued_at, 1)
    assert plant.fresh_attempt(attempt).removed_at == plant.now


def test_a_task_that_its_cluster_took_is_never_given_to_another_on_silence(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.memory.go_dead()
    for _minute in range(20):
        plant.reconcile(attempt)
        plant.later(minutes=1)
    waiting = plant.fresh(task)
    assert (waiting.state, waiting.attempt, waiting.reason) == (State.STARTING, 1, "ClusterUnreachable")


def test_f08_a_namespace_that_is_going_ends_in_a_clear_error_after_bounded_tries(plant: Plant) -> None:
    plant.started()
    plant.memory.delete(ObjectRef(Resource.NAMESPACE, "platform-p-map-team"))
    task = plant.submit(a_spec("second"))
    attempt = plant.admit(task)
    tries = 0
    while plant.fresh(task).state == State.STARTING and tries < 30:
        plant.reconcile(attempt)
        plant.later(minutes=1)
        tries += 1
    ended = plant.fresh(task)
    assert (tries, ended.state, ended.reason, open_bookings(task)) == (8, State.FAILED, "Rejected", 0)
    assert "is being removed" in ended.reason_numbers["message"]


def test_a_name_that_another_object_has_is_never_taken_over(plant: Plant) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    plant.memory.create(Resource.NAMESPACE, {"metadata": {"name": "platform-p-map-team"}})
    foreign: dict[str, Any] = {
        "metadata": {"name": attempt.object_name, "namespace": "platform-p-map-team", "labels": {}}
    }
    plant.memory.put(Resource.JOB, foreign)
    for _try in range(9):
        plant.reconcile(attempt)
        plant.later(minutes=2)
    assert plant.fresh(task).state == State.FAILED
    assert [job["metadata"]["labels"] for job in plant.memory.everything(Resource.JOB)] == [{}]


def test_two_workers_never_do_the_same_attempt_at_once(plant: Plant) -> None:
    attempt = plant.admit(plant.submit())
    first = reconciliation.claim(attempt.pk, now=plant.now)
    second = reconciliation.claim(attempt.pk, now=plant.now)
    assert (first is not None, second) == (True, None)


def test_a_worker_that_lost_its_token_writes_nothing(plant: Plant) -> None:
    attempt = plant.admit(plant.submit())
    slow = reconciliation.claim(attempt.pk, now=plant.now)
    plant.later(minutes=5)
    assert slow is not None
    assert reconciliation.claim(attempt.pk, now=plant.now) is not None
    reconciliation.agreed(slow, empty=False, changed=True, now=plant.now)
    assert plant.fresh_attempt(attempt).applied_at is None


def test_who_rings_while_a_worker_is_at_it_is_heard_afterwards(plant: Plant) -> None:
    task, attempt = plant.started()
    claim = reconciliation.claim(attempt.pk, now=plant.now)
    assert claim is not None
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    reconciliation.agreed(claim, empty=False, changed=False, now=plant.now)
    assert reconciliation.due(now=plant.now) == [attempt.pk]


def test_f17_a_dead_cluster_leaves_the_others_work_alone(plant: Plant) -> None:
    dead = plant.world.a_cluster("dead")
    gateway = MemoryGateway()
    gateway.go_dead()
    attempts = [plant.admit(plant.submit()), plant.admit(plant.submit(a_spec("other")))]
    Attempt.objects.filter(pk=attempts[0].pk).update(cluster=dead)
    with registry.bound(dead, gateway):
        for attempt in attempts:
            plant.reconcile(attempt)
    assert [job["metadata"]["name"] for job in plant.memory.everything(Resource.JOB)] == [attempts[1].object_name]
