"""What happens to a cluster: machines lost or cordoned, objects changed by hand, its API killed, tokens expired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from apps.clusters import services as clusters
from apps.clusters.models import Cluster, Node
from apps.kernel import clock
from apps.tasks.domain.states import State
from apps.tasks.models import Instance
from devkube.real.control_plane import ControlPlane
from devkube.real.credentials import User
from devkube.real.simulated_nodes import SimulatedNodes
from devkube.real.tools import Toolbox
from tests.kubernetes.conftest import NODES
from tests.support.site import Site, a_job, a_service, account_token, site_on
from tests.support.world import World

JOBS = "apis/batch/v1/jobs"
DEPLOYMENTS = "apis/apps/v1/deployments"
QUICK = {"kube-controller-manager": ["--node-monitor-grace-period=6s", "--node-monitor-period=1s"]}


@pytest.fixture(scope="module")
def own_plane(tools: Toolbox) -> Iterator[ControlPlane]:
    """A plane of its own, because its API server and its machines are killed."""
    with ControlPlane("faulty", toolbox=tools, extra=QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def own_nodes(own_plane: ControlPlane) -> Iterator[SimulatedNodes]:
    with SimulatedNodes(own_plane, lease_seconds=4) as running:
        for name in NODES:
            running.add(name, cards=8, mark="rtx-4090", cpu=176, memory_gib=860)
        yield running


@pytest.fixture
def faulty(transactional_db: None, world: World, own_plane: ControlPlane, own_nodes: SimulatedNodes) -> Iterator[Site]:
    with own_plane.client() as kube, site_on(own_plane, world, kube, token=account_token(kube)) as made:
        yield made
        kube.delete(f"/api/v1/namespaces/{made.namespace}")


def cluster(site: Site) -> Cluster:
    return Cluster.objects.get(pk=site.cluster.pk)


def test_a_job_deleted_by_hand_is_made_again(site: Site) -> None:
    task = site.running(a_job())
    (job,) = site.objects(JOBS, task)
    where = f"/apis/batch/v1/namespaces/{site.namespace}/jobs/{job['metadata']['name']}"
    site.kube.request("DELETE", where, params={"propagationPolicy": "Background"}).raise_for_status()
    first = job["metadata"]["uid"]
    site.until(
        lambda: [each["metadata"]["uid"] for each in site.objects(JOBS, task)] not in ([first], []), "made again"
    )
    site.reaches(task, State.RUNNING)
    assert site.fresh(task).attempt == 1


def test_a_deployment_scaled_by_hand_is_brought_back_to_what_was_asked(site: Site) -> None:
    task = site.submit(a_service(nodes=2))
    site.reaches(task, State.RUNNING)
    (deployment,) = site.objects(DEPLOYMENTS, task)
    where = f"/apis/apps/v1/namespaces/{site.namespace}/deployments/{deployment['metadata']['name']}"
    site.patch(where, {"spec": {"replicas": 4}})
    site.until(lambda: site.objects(DEPLOYMENTS, task)[0]["spec"]["replicas"] == 2, "two are asked for again")
    site.until(lambda: len(site.uids(task)) == 2 and site.fresh(task).state == State.RUNNING, "two serve")


def test_a_namespace_deleted_by_hand_ends_its_tasks_and_the_next_one_makes_it_again(site: Site) -> None:
    task = site.running(a_job())
    site.kube.delete(f"/api/v1/namespaces/{site.namespace}").raise_for_status()
    site.until(lambda: site.fresh(task).state in (State.STOPPED, State.FAILED), "the task has ended", 90)
    gone = site.kube.get(f"/api/v1/namespaces/{site.namespace}").status_code
    again = site.submit(a_job("train-b", runs="100ms"))
    site.reaches(again, State.SUCCEEDED, 120)
    assert gone in (200, 404)


def test_f08_a_resource_quota_of_the_cluster_is_named_as_the_reason(site: Site) -> None:
    first = site.submit(a_job(runs="100ms"))
    site.reaches(first, State.SUCCEEDED)
    fence = {"metadata": {"name": "fence"}, "spec": {"hard": {"requests.nvidia.com/gpu": "0"}}}
    site.kube.post(f"/api/v1/namespaces/{site.namespace}/resourcequotas", json=fence).raise_for_status()
    task = site.submit(a_job("train-b"))
    told = site.fresh(task).events.filter(text__contains="exceeded quota")
    site.until(told.exists, "the refusal is among the events")
    assert site.fresh(task).state == State.STARTING


def test_a_cordoned_machine_takes_no_new_task_and_keeps_those_it_has(site: Site) -> None:
    task = site.running(a_job(cards=8, nodes=1))
    (pod,) = site.pods(task)
    other = next(name for name in NODES if name != pod["spec"]["nodeName"])
    site.patch(f"/api/v1/nodes/{other}", {"spec": {"unschedulable": True}})
    try:
        site.until(lambda: Node.objects.get(name=other).unschedulable, "the cordon is recorded")
        waiting = site.submit(a_job("train-b", cards=8))
        site.until(lambda: site.fresh(waiting).reason != "", "it says why it waits")
        queued = site.fresh(waiting)
    finally:
        site.patch(f"/api/v1/nodes/{other}", {"spec": {"unschedulable": None}})
    site.reaches(waiting, State.RUNNING)
    assert (queued.state, site.fresh(task).state) == (State.QUEUED, State.RUNNING)


def test_f12_a_foreign_pod_of_higher_priority_displaces_and_that_is_no_failure(site: Site) -> None:
    tasks = [site.running(a_job(f"low-{number}", cards=8, backoff_limit=0)) for number in range(2)]
    site.kube.post("/apis/scheduling.k8s.io/v1/priorityclasses", json={"metadata": {"name": "urgent"}, "value": 9000})
    card = {"limits": {"nvidia.com/gpu": "8"}}
    pod = {
        "metadata": {"name": "urgent"},
        "spec": {
            "priorityClassName": "urgent",
            "containers": [{"name": "main", "image": "busybox", "resources": card}],
        },
    }
    site.kube.post("/api/v1/namespaces/default/pods", json=pod).raise_for_status()
    displaced = Instance.objects.filter(state="preempted")
    site.until(lambda: displaced.exists() or any(site.fresh(each).reason == "Preempted" for each in tasks), "displaced")
    states = {site.fresh(each).state for each in tasks}
    site.kube.request("DELETE", "/api/v1/namespaces/default/pods/urgent", params={"gracePeriodSeconds": "0"})
    for each in tasks:
        site.reaches(each, State.RUNNING, 90)
    assert State.FAILED not in states


def test_lost_machines_are_shown_and_their_tasks_go_on_when_they_are_back(
    faulty: Site, own_nodes: SimulatedNodes
) -> None:
    task = faulty.running(a_service(nodes=2))
    own_nodes.kill()
    try:
        faulty.until(lambda: not Node.objects.filter(ready=True).exists(), "both are shown as lost")
        faulty.reaches(task, State.DEGRADED)
        lost = faulty.fresh(task)
    finally:
        own_nodes.start()
    faulty.until(lambda: Node.objects.filter(ready=True).count() == len(NODES), "both are back")
    back = faulty.reaches(task, State.RUNNING, 120)
    assert (lost.reason, lost.nodes_ready, back.nodes_ready) == ("NodeLost", 0, 2)


def test_f17_a_killed_api_server_loses_nothing_and_silence_releases_nothing(
    faulty: Site, own_plane: ControlPlane
) -> None:
    task = faulty.running(a_job(runs="600s"))
    own_plane.kill_apiserver()
    faulty.until(lambda: cluster(faulty).unreachable_since is not None, "the silence is marked")
    silent = faulty.fresh(task)
    waiting = faulty.submit(a_job("train-b", runs="100ms"))
    own_plane.start_apiserver()
    faulty.reaches(waiting, State.SUCCEEDED, 120)
    faulty.until(lambda: cluster(faulty).unreachable_since is None, "it answers again")
    assert (silent.state, faulty.fresh(task).state) == (State.RUNNING, State.RUNNING)


def test_expired_credentials_are_said_and_rotated_without_a_restart(faulty: Site, own_plane: ControlPlane) -> None:
    def issue(token: str) -> None:
        own_plane.set_user(User("platform", ("system:masters",), token))
        own_plane.restart_apiserver()

    def rotate(token: str) -> bool:
        clusters.rotate_credentials(
            cluster(faulty),
            server=own_plane.url,
            token=token,
            ca=own_plane.ca.read_text(),
            by=faulty.world.ada,
            now=clock.now(),
        )
        return clusters.check(cluster(faulty), now=clock.now())

    issue("first-token-of-the-platform")
    first = rotate("first-token-of-the-platform")
    issue("second-token-of-the-platform")
    expired = clusters.check(cluster(faulty), now=clock.now())
    told = cluster(faulty).last_error
    assert (first, expired, "Unauthorized" in told) == (True, False, True)
    assert rotate("second-token-of-the-platform")


@pytest.mark.parametrize("minutes", [-20, 20])
def test_a_cluster_whose_clock_is_off_gives_no_negative_duration(
    transactional_db: None,
    world: World,
    plane: ControlPlane,
    machines: SimulatedNodes,
    http: httpx.Client,
    account: str,
    minutes: int,
) -> None:
    with site_on(plane, world, http, token=account, ahead=timedelta(minutes=minutes)) as site:
        task = site.submit(a_job(runs="1s"))
        done = site.reaches(task, State.SUCCEEDED)
        http.delete(f"/api/v1/namespaces/{site.namespace}")
    moments = [done.created_at, done.started_at, done.finished_at]
    assert (None in moments, moments) == (False, sorted(moments, key=str))
