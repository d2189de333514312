"""From an admitted attempt to objects on the cluster and back to nothing."""

from __future__ import annotations

from apps.clusters.gateway.port import ObjectRef, Resource
from apps.tasks.domain.states import State
from apps.tasks.services.lifecycle import delete_task, pause_task, restart_task, resume_task, stop_task
from tests.services.reconciler.plant import Plant, held, open_bookings


def test_an_admitted_job_gets_its_namespace_classes_and_job_once(plant: Plant) -> None:
    _task, attempt = plant.started()
    plant.reconcile(attempt)
    jobs = plant.memory.everything(Resource.JOB)
    classes = {item["metadata"]["name"] for item in plant.memory.everything(Resource.PRIORITY_CLASS)}
    assert [job["metadata"]["name"] for job in jobs] == [attempt.object_name]
    assert classes == {"platform-high", "platform-normal", "platform-low"}
    assert attempt.namespace == "platform-p-map-team"


def test_it_runs_and_succeeds_and_gives_everything_back(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    running = plant.fresh(task)
    plant.later(minutes=3)
    plant.complete(attempt)
    plant.observe()
    done = plant.fresh(task)
    assert (running.state, running.started_at) == (State.RUNNING, plant.world.now)
    assert (done.state, done.finished_at, held(plant.world), open_bookings(task)) == (State.SUCCEEDED, plant.now, 0, 0)


def test_pausing_suspends_and_releases_only_when_the_pods_are_gone(plant: Plant) -> None:
    task, attempt = plant.started()
    name = plant.pod(attempt)
    plant.observe()
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    plant.observe()
    pausing = (plant.fresh(task).state, held(plant.world))
    plant.memory.finish(ObjectRef(Resource.POD, name, attempt.namespace))
    plant.observe()
    assert pausing == (State.PAUSING, 1)
    assert (plant.fresh(task).state, held(plant.world)) == (State.PAUSED, 0)


def test_a_resumed_job_stays_suspended_until_it_is_admitted_again(plant: Plant) -> None:
    task, attempt = plant.started()
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    plant.observe()
    resume_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    queued = plant.memory.everything(Resource.JOB)[0]["spec"]["suspend"]
    plant.admit(plant.fresh(task))
    plant.reconcile(attempt)
    assert (queued, plant.memory.everything(Resource.JOB)[0]["spec"]["suspend"]) == (True, False)


def test_stopping_ends_only_when_everything_is_seen_gone(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.observe()
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    plant.observe()
    stopping = (plant.fresh(task).state, held(plant.world))
    plant.memory.finish_terminating()
    plant.observe()
    plant.later(seconds=3)
    plant.reconcile(attempt)
    assert stopping == (State.STOPPING, 1)
    assert (plant.fresh(task).state, held(plant.world)) == (State.STOPPED, 0)
    assert plant.fresh_attempt(attempt).removed_at == plant.now


def test_a_task_stopped_before_its_objects_exist_ends_without_an_observer(plant: Plant) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    ended = plant.fresh(task)
    assert (ended.state, plant.memory.everything(Resource.JOB), held(plant.world)) == (State.STOPPED, [], 0)


def test_a_task_paused_before_its_objects_exist_rests_without_any(plant: Plant) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    assert (plant.fresh(task).state, plant.memory.everything(Resource.JOB)) == (State.PAUSED, [])


def test_f08_a_restart_uses_a_fresh_name_and_never_takes_the_old_pod_for_the_new(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.pod(attempt)
    plant.complete(attempt)
    plant.observe()
    restart_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    second = plant.admit(plant.fresh(task))
    plant.reconcile(second)
    plant.reconcile(attempt)
    plant.observe()
    names = [job["metadata"]["name"] for job in plant.memory.everything(Resource.JOB)]
    assert (names, plant.fresh(task).state) == ([f"{task.object_name}-2"], State.STARTING)


def test_a_finished_jobs_objects_stay_a_day_and_then_go(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.complete(attempt)
    plant.observe()
    plant.later(hours=23)
    plant.reconcile(attempt)
    kept = len(plant.memory.everything(Resource.JOB))
    plant.later(hours=2)
    plant.reconcile(attempt)
    plant.later(seconds=3)
    plant.reconcile(attempt)
    assert (kept, plant.memory.everything(Resource.JOB), plant.fresh(task).state) == (1, [], State.SUCCEEDED)
    assert plant.fresh_attempt(attempt).removed_at == plant.now


def test_a_deleted_finished_task_leaves_the_cluster_at_once(plant: Plant) -> None:
    task, attempt = plant.started()
    plant.complete(attempt)
    plant.observe()
    delete_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    assert plant.memory.everything(Resource.JOB) == []
