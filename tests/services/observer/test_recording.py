"""What the watches tell of tasks, as rows and states (F10–F12, F16, F18, F32)."""

from __future__ import annotations

from typing import Any

import pytest

from apps.clusters.gateway.kube.reflector import Complete, Deleted, Seen, Silence
from apps.clusters.gateway.port import ObjectRef, Resource, Transient
from apps.clusters.models import Cluster
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt, Event, Instance, Task
from apps.tasks.observer import record
from tests.services.reconciler.plant import Plant, a_deployment, held, running
from tests.support.world import a_spec


def an_event(attempt: Attempt, *, name: str, count: int | None = 1, **fields: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": f"{name}.1", "namespace": attempt.namespace, "uid": f"event-{name}"},
        "involvedObject": {"kind": "Pod", "name": name, "namespace": attempt.namespace, "uid": ""},
        "reason": "FailedScheduling",
        "message": "0/2 nodes are available",
        "type": "Warning",
        "count": count,
        "lastTimestamp": "2026-12-01T11:59:00Z",
        **fields,
    }


def test_a_pod_becomes_one_row_that_is_replaced_and_never_piled_up(plant: Plant) -> None:
    _task, attempt = plant.started()
    for restarts in range(5):
        state = {"running": {"startedAt": "2026-12-01T12:00:05Z"}}
        status = {"containerStatuses": [{"name": "main", "ready": True, "restartCount": restarts, "state": state}]}
        plant.pod(attempt, status={"phase": "Running", **status})
        plant.observe()
    row = Instance.objects.get(attempt=attempt)
    assert (row.state, row.restarts, row.node, row.gone_at) == ("running", 4, "gpu-0", None)


def test_a_pod_that_is_no_more_keeps_its_row_without_its_json(plant: Plant) -> None:
    _task, attempt = plant.started()
    name = plant.pod(attempt)
    plant.observe()
    plant.memory.finish(ObjectRef(Resource.POD, name, attempt.namespace))
    plant.observe()
    row = Instance.objects.get(attempt=attempt)
    assert (row.gone_at, row.observed, row.state) == (plant.now, {}, "running")
    assert (row.shown_state, {one["state"] for one in row.shown_containers} & {"running", "waiting"}) == ("gone", set())


def test_f16_a_final_state_is_never_left_whatever_the_watch_says_later(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.complete(attempt)
    plant.observe()
    plant.pod(attempt)
    plant.memory.set_status(plant.job(attempt), {"conditions": None, "active": 1})
    plant.observe()
    assert (plant.fresh(task).state, held(plant.world)) == (State.SUCCEEDED, 0)


def test_the_same_batch_twice_changes_nothing(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.memory.put(Resource.EVENT, an_event(attempt, name=f"{attempt.object_name}-aaaaa"))
    plant.observe()
    before = (plant.fresh(task).seq, Event.objects.count())
    plant.later(seconds=5)
    plant.observe()
    assert (plant.fresh(task).seq, Event.objects.count()) == before


def test_f15_silence_changes_no_task_and_is_written_on_the_cluster(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    before = plant.fresh(task).seq
    record(plant.cluster, [Silence(Resource.POD, Transient("timed out"))], now=plant.now)
    cluster = Cluster.objects.get(pk=plant.cluster.pk)
    assert (plant.fresh(task).seq, cluster.unreachable_since, cluster.last_error) == (before, plant.now, "timed out")


def test_an_answer_ends_the_silence(plant: Plant) -> None:
    record(plant.cluster, [Silence(Resource.POD, Transient("timed out"))], now=plant.now)
    plant.later(seconds=30)
    plant.observe()
    cluster = Cluster.objects.get(pk=plant.cluster.pk)
    assert (cluster.unreachable_since, cluster.last_error, cluster.last_contact_at) == (None, "", plant.now)


def test_f19_labels_of_our_tasks_on_another_cluster_are_not_ours(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    item = plant.memory.everything(Resource.POD)[0]
    other = plant.world.a_cluster("beijing-2")
    record(other, [Seen(Resource.POD, item), Complete(Resource.POD, frozenset())], now=plant.now)
    assert (Instance.objects.count(), plant.fresh(task).state) == (0, State.STARTING)


@pytest.mark.parametrize(
    "labels",
    [
        None,
        {},
        {"platform/task-id": "x"},
        {"platform/task-id": None, "platform/attempt": "1"},
        {"platform/attempt": "1"},
    ],
)
def test_f18_what_is_none_of_ours_or_odd_is_passed_over(plant: Plant, labels: Any) -> None:
    task, attempt = plant.started()
    odd = {"metadata": {"name": "odd", "uid": "odd", "labels": labels}}
    plant.pod(attempt)
    ours = plant.memory.everything(Resource.POD)[0]
    record(plant.cluster, [Seen(Resource.POD, odd), Seen(Resource.POD, ours)], now=plant.now)
    assert plant.fresh(task).state == State.RUNNING


def test_f18_nulls_and_text_that_no_table_takes_stop_nothing(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(
        attempt, status={"phase": "Pending", "conditions": None, "message": "NUL \x00 here", "containerStatuses": None}
    )
    event = an_event(attempt, name="x", lastTimestamp=None, eventTime=None, message="\x00", count=None)
    event["involvedObject"]["name"] = f"{attempt.object_name}-aaaaa"
    plant.memory.put(Resource.EVENT, event)
    plant.observe()
    told = Event.objects.get(source="cluster")
    assert (told.at, told.text, Instance.objects.count(), plant.fresh(task).state) == (
        plant.now,
        "\ufffd",
        1,
        State.STARTING,
    )


def test_an_event_that_repeats_replaces_its_row(plant: Plant) -> None:
    _task, attempt = plant.started()
    name = plant.pod(attempt)
    for count in (1, 5, 9):
        plant.memory.put(Resource.EVENT, an_event(attempt, name=name, count=count))
        plant.observe()
    told = Event.objects.get(source="cluster")
    assert (told.numbers, told.token, told.warning, told.attempt) == (
        {"count": 9, "object": "Pod", "name": name},
        "FailedScheduling",
        True,
        1,
    )


def test_an_event_belongs_to_the_workload_of_exactly_its_name(plant: Plant) -> None:
    """F27: ``train-…-2`` is another attempt, and ``train-…x`` another task; nothing is matched by prefix."""
    _task, attempt = plant.started()
    for name in (f"{attempt.object_name}x-aaaaa", f"{attempt.object_name}-a-b-c-d", "aaaaa"):
        plant.memory.put(Resource.EVENT, an_event(attempt, name=name))
    plant.observe()
    assert Event.objects.filter(source="cluster").count() == 0


def test_f11_a_job_with_an_evicted_pod_that_succeeded_has_succeeded(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt, name="a", status={"phase": "Failed", "reason": "Evicted"})
    plant.pod(attempt, name="b", status={"phase": "Succeeded"})
    plant.complete(attempt)
    plant.observe()
    done = plant.fresh(task)
    assert (done.state, done.reason_numbers["evicted"]) == (State.SUCCEEDED, 1)


def test_f10_a_deployment_is_running_only_when_it_is_done(plant: Plant) -> None:
    task, attempt = plant.started(a_deployment())
    ref = plant.deployment(attempt)
    plant.memory.set_status(ref, {"observedGeneration": 0, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1})
    plant.observe()
    early = plant.fresh(task).state
    plant.memory.set_status(ref, {"observedGeneration": 1, "readyReplicas": 1})
    plant.observe()
    assert (early, plant.fresh(task).state, plant.fresh(task).nodes_ready) == (State.UPDATING, State.RUNNING, 1)


def test_what_ended_while_nobody_watched_is_found_by_the_first_list(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    record(plant.cluster, [Complete(Resource.POD, frozenset()), Complete(Resource.JOB, frozenset())], now=plant.now)
    assert (Instance.objects.get().gone_at, plant.fresh_attempt(attempt).workload) == (plant.now, {})
    assert plant.fresh(task).reason == "ObjectsGone"


def test_the_end_of_a_namesake_says_nothing_about_the_one_that_stands(plant: Plant) -> None:
    task, attempt = plant.started()
    labels = plant.memory.everything(Resource.JOB)[0]["metadata"]["labels"]
    record(plant.cluster, [Deleted(Resource.JOB, {"metadata": {"uid": "former", "labels": labels}})], now=plant.now)
    assert plant.fresh_attempt(attempt).workload != {}
    assert plant.fresh(task).state == State.STARTING


def test_a_task_that_cannot_be_read_stops_no_other(plant: Plant) -> None:
    odd, first = plant.started(a_spec("odd"))
    task, attempt = plant.started()
    Task.objects.filter(pk=odd.pk).update(kind="Novel")
    plant.pod(first, name="a")
    plant.pod(attempt, name="b")
    plant.observe()
    assert plant.fresh(task).state == State.RUNNING


def test_one_batch_of_many_tasks_costs_the_same_per_task(plant: Plant, django_assert_max_num_queries: Any) -> None:
    _task, attempt = plant.started()
    for number in range(50):
        plant.pod(attempt, name=f"p{number}", **running())
    pods = [Seen(Resource.POD, item) for item in plant.memory.everything(Resource.POD)]
    with django_assert_max_num_queries(30):
        record(plant.cluster, pods, now=plant.now)
    assert Instance.objects.filter(state="running").count() == 50


def test_the_end_is_dated_by_the_cluster_and_never_later_than_now(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.later(minutes=10)
    plant.memory.set_status(plant.job(attempt), {"completionTime": "2026-12-01T12:04:00Z"})
    plant.complete(attempt)
    plant.observe()
    done = Task.objects.get(pk=task.pk)
    assert done.finished_at is not None
    assert done.finished_at.isoformat() == "2026-12-01T12:04:00+00:00"
    assert done.started_at is None or done.started_at <= done.finished_at


def test_an_end_before_the_task_came_to_the_cluster_is_a_wrong_clock_and_dated_now(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.later(minutes=1)
    plant.memory.set_status(plant.job(attempt), {"completionTime": "2026-12-01T11:40:00Z"})
    plant.complete(attempt)
    plant.observe()
    assert Task.objects.get(pk=task.pk).finished_at == plant.now


def test_a_task_at_rest_that_somebody_changes_on_the_cluster_is_looked_at_at_once(plant: Plant) -> None:
    _task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    plant.reconcile(attempt)
    resting = plant.fresh_attempt(attempt).next_try_at
    plant.memory.delete(plant.job(attempt))
    plant.memory.delete(ObjectRef(Resource.POD, f"{attempt.object_name}-aaaaa", plant.fresh_attempt(attempt).namespace))
    plant.observe()
    assert (resting is not None, plant.fresh_attempt(attempt).next_try_at) == (True, None)
