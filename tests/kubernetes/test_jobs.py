"""A Job from submission to its end on a real control plane."""

from __future__ import annotations

from apps.clusters.models import Cluster
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt, Instance
from apps.tasks.services.lifecycle import pause_task, restart_task, resume_task, stop_task
from tests.support.site import Site, a_job

JOBS = "apis/batch/v1/jobs"


def test_a_job_goes_from_the_queue_to_its_end(site: Site) -> None:
    task = site.submit(a_job(runs="1s", cards=2))
    queued = task.state
    site.reaches(task, State.RUNNING)
    (pod,) = site.pods(task)
    ended = site.reaches(task, State.SUCCEEDED)
    instance = Instance.objects.get(attempt__task=task)
    cards = pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    assert (queued, cards, instance.node) == (State.QUEUED, "2", pod["spec"]["nodeName"])
    assert (ended.started_at is not None, ended.finished_at is not None, ended.reason) == (True, True, "")


def test_the_clusters_scheduler_follows_the_plan(site: Site) -> None:
    task = site.running(a_job(cards=8, nodes=2))
    planned = Attempt.objects.get(task=task).planned_nodes
    taken = {pod["spec"]["nodeName"] for pod in site.pods(task)}
    assert (taken, sum(planned.values())) == (set(planned), 2)


def test_pause_keeps_the_job_and_frees_its_cards_and_resume_goes_on(site: Site) -> None:
    task = site.running(a_job(cards=8))
    (job,) = site.objects(JOBS, task)
    pause_task(task, by=site.world.alice, now=site.now)
    site.reaches(task, State.PAUSED)
    paused, pods = site.objects(JOBS, task), site.pods(task)
    resume_task(site.fresh(task), by=site.world.alice, now=site.now)
    site.reaches(task, State.RUNNING)
    (resumed,) = site.objects(JOBS, task)
    assert ([each["spec"]["suspend"] for each in paused], pods) == ([True], [])
    assert (resumed["metadata"]["uid"], resumed["spec"]["suspend"]) == (job["metadata"]["uid"], False)


def test_restart_makes_a_new_job_and_the_old_one_leaves(site: Site) -> None:
    task = site.running(a_job())
    (first,) = site.objects(JOBS, task)
    restart_task(task, by=site.world.alice, now=site.now)
    site.until(lambda: site.fresh(task).attempt == 2 and site.fresh(task).state == State.RUNNING, "it runs again")
    site.until(lambda: len(site.objects(JOBS, task)) == 1, "the first Job is gone")
    (second,) = site.objects(JOBS, task)
    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_stop_leaves_nothing_on_the_cluster(site: Site) -> None:
    task = site.running(a_job())
    stop_task(task, by=site.world.alice, now=site.now)
    site.reaches(task, State.STOPPED)
    site.until(lambda: not site.objects(JOBS, task) and not site.pods(task), "nothing is left")


def test_f09_a_job_fails_only_after_its_retries_and_tells_the_last_exit_code(site: Site) -> None:
    task = site.submit(a_job(runs="200ms", backoff_limit=1, env={"DEVKUBE_EXIT_CODE": "3"}))
    failed = site.reaches(task, State.FAILED, seconds=90)
    (job,) = site.objects(JOBS, task)
    assert (job["status"]["failed"], failed.reason_numbers["exit_code"]) == (2, 3)


def test_a_job_over_its_longest_runtime_fails_with_the_seconds(site: Site) -> None:
    task = site.running(a_job(max_runtime=2))
    failed = site.reaches(task, State.FAILED)
    assert (failed.reason, failed.reason_numbers["seconds"]) == ("DeadlineExceeded", 2)


def test_f11_an_evicted_pod_costs_no_retry(site: Site) -> None:
    task = site.running(a_job(backoff_limit=0))
    (pod,) = site.pods(task)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod["metadata"]["name"]}}
    where = f"/api/v1/namespaces/{site.namespace}/pods/{pod['metadata']['name']}/eviction"
    site.kube.post(where, json=eviction).raise_for_status()
    site.until(lambda: site.uids(task) not in (set(), {pod["metadata"]["uid"]}), "another pod took its place")
    site.reaches(task, State.RUNNING)
    (job,) = site.objects(JOBS, task)
    assert job["status"].get("failed", 0) == 0


def test_finished_objects_leave_after_their_retention_and_the_task_stays(site: Site) -> None:
    task = site.submit(a_job(runs="100ms"))
    site.reaches(task, State.SUCCEEDED)
    kept = len(site.objects(JOBS, task))
    attempt = site.attempt(task)
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=site.world.now.replace(year=2020), next_try_at=site.now)
    site.until(lambda: not site.objects(JOBS, task), "the Job is gone")
    assert (kept, site.fresh(task).state) == (1, State.SUCCEEDED)


def test_f23_another_platforms_objects_are_neither_read_nor_touched(site: Site) -> None:
    foreign = {"platform/task-id": "0b9f2a52-59d4-4a4e-9d4c-5f6f8f3b1c11", "platform/attempt": "1"}
    space = "another-p-map-team"
    site.kube.post("/api/v1/namespaces", json={"metadata": {"name": space}})
    job = {
        "metadata": {"name": "theirs", "labels": foreign},
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}},
        },
    }
    site.kube.post(f"/apis/batch/v1/namespaces/{space}/jobs", json=job)
    site.reaches(site.submit(a_job(runs="100ms")), State.SUCCEEDED)
    standing = site.kube.get(f"/apis/batch/v1/namespaces/{space}/jobs/theirs")
    assert (standing.status_code, Instance.objects.count(), Cluster.objects.get().last_error) == (200, 1, "")
