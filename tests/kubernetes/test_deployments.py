"""A Deployment on a real control plane: scaled, rolled out, stuck, rolled back."""

from __future__ import annotations

from dataclasses import replace

from apps.tasks.domain.spec import Port, TaskSpec
from apps.tasks.domain.states import State
from apps.tasks.models import Task
from apps.tasks.services.changes import edit_task, rollback_task, scale_task
from apps.tasks.services.lifecycle import pause_task, resume_task
from tests.support.site import Site, a_service

DEPLOYMENTS = "apis/apps/v1/deployments"


def image(spec: TaskSpec, name: str, **env: str) -> TaskSpec:
    (container,) = spec.containers
    return replace(spec, containers=(replace(container, image=name, env={**container.env, **env}),))


def edited(site: Site, task: Task, spec: TaskSpec) -> Task:
    present = site.fresh(task)
    return edit_task(present, spec, expected_version=present.version, by=site.world.alice, now=site.now)


def ready(site: Site, task: Task, count: int) -> None:
    site.until(
        lambda: (site.fresh(task).state, site.fresh(task).nodes_ready) == (State.RUNNING, count), f"{count} serve"
    )


def images(site: Site, task: Task) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in site.pods(task)}


def test_f30_scaling_up_and_down_keeps_the_pods_that_stay(site: Site) -> None:
    task = site.submit(a_service(nodes=2))
    ready(site, task, 2)
    first = site.uids(task)
    scale_task(site.fresh(task), 5, by=site.world.alice, now=site.now)
    ready(site, task, 5)
    five = site.uids(task)
    scale_task(site.fresh(task), 2, by=site.world.alice, now=site.now)
    site.until(lambda: len(site.uids(task)) == 2 and site.fresh(task).state == State.RUNNING, "three have left")
    assert (len(five), first < five, site.uids(task) < five) == (5, True, True)


def test_f10_a_rolling_update_is_done_only_when_no_old_pod_is_left(site: Site) -> None:
    spec = a_service(nodes=3, advanced={"max_unavailable": 1, "max_surge": 1})
    task = site.submit(spec)
    ready(site, task, 3)
    edited(site, task, image(spec, "busybox:1.37"))
    seen = set()

    def done() -> bool:
        present = site.fresh(task)
        seen.add(present.state)
        return present.state == State.RUNNING and present.revision == 2

    site.until(done, "the update is done")
    (deployment,) = site.objects(DEPLOYMENTS, task)
    strategy = deployment["spec"]["strategy"]["rollingUpdate"]
    assert (images(site, task), strategy) == ({"busybox:1.37"}, {"maxUnavailable": 1, "maxSurge": 1})
    assert State.UPDATING in seen


def test_a_stuck_rollout_says_why_and_is_rolled_back(site: Site) -> None:
    spec = a_service(nodes=2, advanced={"progress_deadline_seconds": 5})
    task = site.submit(spec)
    ready(site, task, 2)
    edited(site, task, image(spec, "busybox:nowhere", DEVKUBE_WAITING="ImagePullBackOff"))
    site.until(lambda: site.fresh(task).reason == "UpdateStuck", "the update is stuck")
    stuck = site.fresh(task)
    rollback_task(site.fresh(task), 1, by=site.world.alice, now=site.now)
    ready(site, task, 2)
    assert (stuck.state, stuck.reason_numbers["old"] > 0) == (State.DEGRADED, True)
    assert images(site, task) == {"busybox:1.36"}


def test_a_paused_deployment_has_no_pods_and_comes_back_whole(site: Site) -> None:
    task = site.submit(a_service(nodes=2))
    ready(site, task, 2)
    pause_task(site.fresh(task), by=site.world.alice, now=site.now)
    site.reaches(task, State.PAUSED)
    left = site.pods(task)
    resume_task(site.fresh(task), by=site.world.alice, now=site.now)
    ready(site, task, 2)
    assert left == []


def test_a_port_gets_a_service_that_selects_the_pods(site: Site) -> None:
    spec = a_service()
    (container,) = spec.containers
    task = site.running(replace(spec, containers=(replace(container, ports=(Port(8080, "http"),)),)))
    (service,) = site.objects("api/v1/services", task)
    (pod,) = site.pods(task)
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert [port["port"] for port in service["spec"]["ports"]] == [8080]
