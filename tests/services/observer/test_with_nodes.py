"""The whole way below the pages: admitted, reconciled, run by a node's agent, observed; the demo without a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.clusters.domain.nodes import read_node
from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.port import LogQuery, ObjectRef, Resource
from apps.clusters.models import Node
from apps.kernel import clock
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.states import State
from apps.tasks.models import Instance, Task
from apps.tasks.observer import ClusterObserver
from apps.tasks.services.changes import scale_task
from apps.tasks.services.lifecycle import pause_task, resume_task, stop_task
from devkube.embedded.process import EmbeddedCluster
from tests.services.reconciler.plant import Plant, a_deployment, plant_of
from tests.support.world import World, a_container, a_spec

pytestmark = pytest.mark.django_db(transaction=True)
NODE = {
    "name": "gpu-0",
    "labels": {"platform/mark": "rtx-4090", "platform/pool": "public"},
    "capacity": {"cpu": "160", "memory": "808Gi", "nvidia.com/gpu": "8", "pods": "110"},
}


def wait_for_node(gateway: KubeGateway) -> None:
    """Until the agent has registered its node and said that it is ready."""
    for _try in range(300):
        ready = [read_node(item, []).ready for item in gateway.list(Resource.NODE).items]
        if ready == [True]:
            return
        time.sleep(0.1)
    raise AssertionError("the agent's node never became ready")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    folder: Path = tmp_path_factory.mktemp("agent")
    (folder / "nodes.json").write_text(json.dumps([NODE]))
    with EmbeddedCluster("nodes") as running:
        words = ["--server", running.url, "--nodes", str(folder / "nodes.json"), "--data-dir", str(folder / "data")]
        agent = subprocess.Popen(
            [sys.executable, "-m", "devkube.agent", *words],
            env={**os.environ, "DEVKUBE_TOKEN": running.token},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for_node(KubeGateway(Client(Access(running.url, running.token), seconds=10)))
        yield running
        agent.terminate()
        agent.wait(20)


@pytest.fixture
def plant(transactional_db: None, world: World, cluster: EmbeddedCluster) -> Iterator[Plant]:
    """A plant in real time, with its observer at work and every stale thing of the case before gone."""
    gateway = KubeGateway(Client(Access(cluster.url, cluster.token), seconds=10))
    with plant_of(world, gateway) as made:
        made.now = clock.now()
        observer = ClusterObserver(made.cluster)
        observer.start()
        yield made
        observer.stop()
        observer.join(5)


def until(plant: Plant, condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Reconcile whatever is due until the condition holds; whether it came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        plant.now = clock.now()
        for task in Task.objects.exclude(attempts__admitted_at=None):
            plant.reconcile(task.attempts.get(number=task.attempt))
        if condition():
            return True
        time.sleep(0.2)
    return False


def is_in(plant: Plant, task: Task, state: State) -> Callable[[], bool]:
    return lambda: plant.fresh(task).state == state


def a_job(script: str, name: str = "train-a") -> TaskSpec:
    return a_spec(name, containers=(a_container(command=("sh", "-c", script)),))


def test_a_job_runs_to_its_end_and_its_lines_can_be_read(plant: Plant) -> None:
    task = plant.submit(a_job("echo epoch 1; sleep 1; echo epoch 2"))
    attempt = plant.admit(task)
    assert until(plant, is_in(plant, task, State.SUCCEEDED))
    pod = Instance.objects.get(attempt=attempt)
    ref = ObjectRef(Resource.POD, pod.name, plant.fresh_attempt(attempt).namespace)
    lines = b"".join(plant.gateway.logs(LogQuery(ref, "main"))).splitlines()
    assert [line.split(b" ", 1)[1] for line in lines] == [b"epoch 1", b"epoch 2"]
    assert (pod.state, pod.node, plant.fresh(task).started_at is not None) == ("succeeded", "gpu-0", True)


def test_a_job_that_fails_says_which_exit_code(plant: Plant) -> None:
    task = plant.submit(a_job("exit 7"))
    plant.admit(task)
    assert until(plant, is_in(plant, task, State.FAILED))
    assert plant.fresh(task).reason_numbers["exit_code"] == 7


def test_a_running_job_pauses_and_goes_on(plant: Plant) -> None:
    task = plant.submit(a_job("sleep 60"))
    plant.admit(task)
    assert until(plant, is_in(plant, task, State.RUNNING))
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    assert until(plant, is_in(plant, task, State.PAUSED))
    resume_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.admit(plant.fresh(task))
    assert until(plant, is_in(plant, task, State.RUNNING))
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    assert until(plant, is_in(plant, task, State.STOPPED))


def test_f30_scaling_keeps_the_pods_that_stay(plant: Plant) -> None:
    task = plant.submit(a_deployment())
    attempt = plant.admit(task)
    assert until(plant, is_in(plant, task, State.RUNNING))
    first = set(Instance.objects.filter(attempt=attempt, gone_at=None).values_list("uid", flat=True))
    scale_task(plant.fresh(task), 3, by=plant.world.alice, now=plant.now)
    assert until(plant, lambda: plant.fresh(task).nodes_ready == 3 and is_in(plant, task, State.RUNNING)())
    scale_task(plant.fresh(task), 1, by=plant.world.alice, now=plant.now)
    present = Instance.objects.filter(attempt=attempt, gone_at=None)
    assert until(plant, lambda: present.count() == 1 and is_in(plant, task, State.RUNNING)())
    assert set(present.values_list("uid", flat=True)) == first


def test_the_node_is_recorded_in_the_pool_that_its_label_names(plant: Plant) -> None:
    node = Node.objects.filter(name="gpu-0", pool__name="public", cards=8, ready=True)
    assert until(plant, lambda: node.exclude(uid="").exists())
