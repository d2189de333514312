"""A Deployment's changes on the cluster: replaced for a new shape, patched for a new size (F30), rested at 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.clusters.gateway.port import Resource
from apps.tasks.domain import spec as specs
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt, Task
from apps.tasks.services.changes import edit_task, rollback_task, scale_task
from apps.tasks.services.lifecycle import pause_task, restart_task, resume_task
from tests.services.reconciler.plant import Plant, a_deployment, held


@pytest.fixture
def served(plant: Plant) -> tuple[Task, Attempt]:
    """A Deployment that runs."""
    task, attempt = plant.started(a_deployment())
    settles(plant, attempt)
    assert plant.fresh(task).state == State.RUNNING
    return plant.fresh(task), attempt


def settles(plant: Plant, attempt: Attempt) -> None:
    """Reconcile, and let the Deployment's controller bring every pod up."""
    plant.reconcile(attempt)
    standing = standing_of(plant)
    wanted = standing["spec"]["replicas"]
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), wanted)
    generation = standing["metadata"]["generation"]
    plant.memory.set_status(plant.deployment(attempt), {"observedGeneration": generation, **counts})
    plant.observe()


def standing_of(plant: Plant) -> dict[str, Any]:
    return plant.memory.everything(Resource.DEPLOYMENT)[0]


def calls_since(plant: Plant, mark: int) -> list[str]:
    """The changing calls to the Deployment itself; its Service only follows."""
    words = [call.split() for call in plant.memory.calls[mark:]]
    return [
        word[0] for word in words if word[0] in {"create", "replace", "merge", "delete"} and "deployments" in word[1]
    ]


def test_scaling_patches_the_size_and_nothing_else(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    template, mark = standing_of(plant)["spec"]["template"], len(plant.memory.calls)
    scale_task(plant.fresh(task), 5, by=plant.world.alice, now=plant.now)
    updating = plant.fresh(task).state
    settles(plant, attempt)
    assert (calls_since(plant, mark), standing_of(plant)["spec"]["template"] == template) == (["merge"], True)
    assert (updating, plant.fresh(task).state, plant.fresh(task).nodes_ready, held(plant.world)) == (
        State.UPDATING,
        State.RUNNING,
        5,
        5,
    )


def test_another_image_replaces_and_a_rollback_brings_the_first_one_back(
    plant: Plant, served: tuple[Task, Attempt]
) -> None:
    task, attempt = served
    spec = specs.from_json(task.spec)
    changed = replace(spec, containers=(replace(spec.containers[0], image="busybox:1.37"),))
    mark = len(plant.memory.calls)
    edit_task(task, changed, expected_version=task.version, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    second = standing_of(plant)["spec"]["template"]["spec"]["containers"][0]["image"]
    rollback_task(plant.fresh(task), 1, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    third = standing_of(plant)["spec"]["template"]["spec"]["containers"][0]["image"]
    assert (calls_since(plant, mark), second, third) == (["replace", "replace"], "busybox:1.37", "busybox:1.36")
    assert (plant.fresh(task).state, plant.fresh_attempt(attempt).applied_revision) == (State.RUNNING, 3)


def test_a_restart_rolls_the_pods_of_the_same_attempt_once(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    mark = len(plant.memory.calls)
    restart_task(task, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    settles(plant, attempt)
    assert (calls_since(plant, mark), plant.fresh(task).attempt) == (["replace"], 1)


def test_pausing_goes_to_zero_and_resuming_to_the_remembered_number(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    scale_task(plant.fresh(task), 3, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    paused = (plant.fresh(task).state, standing_of(plant)["spec"]["replicas"], held(plant.world))
    resume_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.admit(plant.fresh(task))
    settles(plant, attempt)
    resumed = (plant.fresh(task).state, standing_of(plant)["spec"]["replicas"], held(plant.world))
    assert (paused, resumed) == ((State.PAUSED, 0, 0), (State.RUNNING, 3, 3))


def test_f30_a_deployment_of_zero_is_resting_and_not_failed(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    scale_task(plant.fresh(task), 0, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    rested = plant.fresh(task)
    assert (rested.state, rested.reason, held(plant.world)) == (State.PAUSED, "ScaledToZero", 0)


def test_f30_quick_clicks_end_at_the_last_number(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    for nodes in range(2, 8):
        scale_task(plant.fresh(task), nodes, by=plant.world.alice, now=plant.now)
    settles(plant, attempt)
    assert (standing_of(plant)["spec"]["replicas"], held(plant.world), plant.fresh(task).state) == (7, 7, State.RUNNING)


def test_f10_an_update_is_not_done_while_old_pods_serve(plant: Plant, served: tuple[Task, Attempt]) -> None:
    task, attempt = served
    spec = specs.from_json(task.spec)
    changed = replace(spec, containers=(replace(spec.containers[0], image="busybox:1.37"),))
    edit_task(task, changed, expected_version=task.version, by=plant.world.alice, now=plant.now)
    plant.reconcile(attempt)
    plant.memory.set_status(plant.deployment(attempt), {"observedGeneration": 2, "replicas": 2, "updatedReplicas": 1})
    plant.observe()
    during = plant.fresh(task).state
    settles(plant, attempt)
    assert (during, plant.fresh(task).state) == (State.UPDATING, State.RUNNING)
