"""The same walk on a cluster that speaks HTTP and has controllers of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.port import Resource
from apps.clusters.models import Cluster
from apps.clusters.services import add_cluster, check
from apps.tasks.domain.states import State
from apps.tasks.models import Instance, Task
from apps.tasks.services.lifecycle import stop_task
from devkube.embedded.process import EmbeddedCluster
from tests.services.reconciler.plant import Plant, a_deployment, held, plant_of
from tests.support.world import World


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster("walk") as cluster:
        yield cluster


@pytest.fixture
def plant(world: World, embedded: EmbeddedCluster) -> Iterator[Plant]:
    with plant_of(world, KubeGateway(Client(Access(embedded.url, embedded.token), seconds=10))) as made:
        yield made


def reached(plant: Plant, task: Task, state: State) -> bool:
    """Observe and reconcile until the task stands in the state."""
    attempt = task.attempts.get(number=task.attempt)
    for _tick in range(60):
        plant.observe()
        if plant.fresh(task).state == state:
            return True
        plant.later(seconds=20)
        plant.reconcile(attempt)
        time.sleep(0.1)
    return False


def test_a_job_without_a_node_waits_and_says_so_and_is_stopped_without_a_trace(plant: Plant) -> None:
    task, attempt = plant.started()
    for _tick in range(50):
        plant.observe()
        if Instance.objects.filter(attempt=attempt, reason="Unschedulable").exists():
            break
        time.sleep(0.1)
    waiting = plant.fresh(task)
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    assert (waiting.state, waiting.reason) == (State.STARTING, "Unschedulable")
    assert (reached(plant, task, State.STOPPED), held(plant.world)) == (True, 0)
    assert list(plant.gateway.list(Resource.JOB).items) == []


def test_a_deployment_with_a_port_is_created_and_removed_whole(plant: Plant) -> None:
    task, attempt = plant.started(a_deployment())
    made = [
        len(plant.gateway.list(kind, selector="platform/task-id").items)
        for kind in (Resource.DEPLOYMENT, Resource.SERVICE)
    ]
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    stopped = reached(plant, task, State.STOPPED)
    left = [
        len(plant.gateway.list(kind, selector="platform/task-id").items)
        for kind in (Resource.DEPLOYMENT, Resource.SERVICE)
    ]
    assert (made, stopped, left) == ([1, 1], True, [0, 0])


def test_a_cluster_is_checked_by_its_sealed_credentials(world: World, embedded: EmbeddedCluster) -> None:
    cluster = add_cluster("walk", server=embedded.url, token=embedded.token, by=world.ada, now=world.now)
    wrong = add_cluster("closed", server=embedded.url, token="wrong", by=world.ada, now=world.now)
    answers = (check(cluster, now=world.now), check(wrong, now=world.now))
    known, closed = Cluster.objects.get(pk=cluster.pk), Cluster.objects.get(pk=wrong.pk)
    assert (answers, known.version[:1], known.unreachable_since, known.last_error) == ((True, False), "v", None, "")
    assert ("batch/v1" in known.capabilities, closed.unreachable_since, closed.last_error) == (
        True,
        world.now,
        "Unauthorized",
    )
