"""F25: the worker dies at any cluster call; nothing is lost, doubled or held for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from apps.clusters.gateway import registry
from apps.clusters.gateway.port import Resource
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt
from apps.tasks.services.lifecycle import pause_task, resume_task, stop_task
from tests.services.reconciler.killing import DyingGateway, Killed
from tests.services.reconciler.plant import Plant, a_deployment, held, open_bookings, plant_of
from tests.support.world import World

MOST_CALLS = 14
DEATHS = [(at, after) for at in range(1, MOST_CALLS + 1) for after in (False, True)]


@dataclass
class Story:
    """One death in the reconciler, then a worker that works again."""

    plant: Plant
    at: int
    after: bool
    calls: int = 0

    def dies(self, attempt: Attempt) -> None:
        dying = DyingGateway(self.plant.memory, at=self.at, after=self.after)
        registry.bind(self.plant.cluster, dying)
        with suppress(Killed):
            self.plant.reconcile(attempt)
        self.calls = dying.count
        registry.bind(self.plant.cluster, self.plant.memory)

    def recovers(self, attempt: Attempt) -> None:
        """The token of the dead worker runs out; the next ticks go on where it was."""
        self.plant.later(minutes=3)
        for _tick in range(3):
            self.plant.reconcile(attempt)
            self.plant.observe()
            self.plant.later(seconds=15)


@pytest.fixture(params=DEATHS, ids=lambda death: f"{'after' if death[1] else 'before'}-call-{death[0]}")
def story(request: pytest.FixtureRequest, world: World) -> Iterator[Story]:
    at, after = request.param
    with plant_of(world) as plant:
        yield Story(plant, at, after)


def jobs(plant: Plant) -> list[str]:
    return [item["metadata"]["name"] for item in plant.memory.everything(Resource.JOB)]


def test_dying_while_creating_leaves_exactly_one_job(story: Story) -> None:
    task = story.plant.submit()
    attempt = story.plant.admit(task)
    story.dies(attempt)
    story.recovers(attempt)
    assert (jobs(story.plant), held(story.plant.world)) == ([attempt.object_name], 1)
    assert (story.calls <= MOST_CALLS, story.plant.fresh(task).state) == (True, State.STARTING)


def test_dying_while_creating_a_deployment_with_a_port_leaves_one_of_each(story: Story) -> None:
    plant = story.plant
    task = plant.submit(a_deployment())
    attempt = plant.admit(task)
    story.dies(attempt)
    story.recovers(attempt)
    made = [len(plant.memory.everything(kind)) for kind in (Resource.DEPLOYMENT, Resource.SERVICE, Resource.NAMESPACE)]
    assert (made, held(plant.world), open_bookings(task)) == ([1, 1, 1], 1, 1)


def test_dying_while_stopping_removes_everything_and_releases_once(story: Story) -> None:
    plant = story.plant
    task, attempt = plant.started()
    stop_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    story.dies(attempt)
    story.recovers(attempt)
    gone = plant.fresh_attempt(attempt).removed_at is not None
    assert (jobs(plant), plant.fresh(task).state, held(plant.world), gone) == ([], State.STOPPED, 0, True)


def test_dying_while_pausing_or_resuming_ends_in_what_is_wanted(story: Story) -> None:
    plant = story.plant
    task, attempt = plant.started()
    pause_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    story.dies(attempt)
    story.recovers(attempt)
    paused = (plant.fresh(task).state, plant.memory.everything(Resource.JOB)[0]["spec"]["suspend"], held(plant.world))
    resume_task(plant.fresh(task), by=plant.world.alice, now=plant.now)
    plant.admit(plant.fresh(task))
    story.dies(attempt)
    story.recovers(attempt)
    suspended = [item["spec"]["suspend"] for item in plant.memory.everything(Resource.JOB)]
    assert (paused, suspended, held(plant.world)) == ((State.PAUSED, True, 0), [False], 1)
