"""Read, decide, apply on the real tables (domain.md §7)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, connections

from apps.quotas import selectors as quotas
from apps.quotas.models import Quota, Reservation
from apps.scheduling.applier import apply
from apps.scheduling.domain.cycle import decide
from apps.scheduling.loop import CYCLE_LOCK, run_cycle
from apps.scheduling.models import Admission, Placement
from apps.scheduling.selectors import admissions
from apps.scheduling.snapshot_reader import read_snapshot
from apps.tasks.domain.spec import KindName, Priority, ResourceRequest
from apps.tasks.models import Attempt, Instance, Task
from apps.tasks.services import lifecycle
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_container, a_spec

CARDS = "cards:rtx-4090"


class At:
    """A clock that stands."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def cycle(now: datetime) -> int | None:
    return run_cycle(At(now))


def cards(count: int, nodes: int = 1) -> ResourceRequest:
    return ResourceRequest(mark="rtx-4090", cards_per_node=count, nodes=nodes)


def submit(world: World, name: str = "train-a", **changes: Any) -> Task:
    """Each a second after the one before: equal moments are told apart by identity alone."""
    moment = world.now + timedelta(seconds=Task.objects.count())
    return submit_task(a_spec(name, **changes), by=world.alice, now=moment)


def state(task: Task) -> tuple[str, str, dict[str, Any]]:
    task.refresh_from_db()
    return task.state, task.reason, task.reason_numbers


def test_a_queued_task_gets_its_place_its_bookings_and_its_score_cards(world: World, now: datetime) -> None:
    cluster = world.a_plant()
    task = submit(world)
    assert cycle(now + timedelta(seconds=90)) == 1
    attempt = Attempt.objects.get()
    assert (attempt.cluster, attempt.pool, attempt.planned_nodes) == (cluster, world.pool, {"gpu-0": 1})
    assert state(task)[:2] == ("starting", "CreatingObjects")
    booked = {(row.pool_id is not None, row.resource): row.amount for row in Reservation.objects.all()}
    assert booked == {(False, CARDS): 1, (True, CARDS): 1, (True, "cpu"): 20_000, (True, "memory"): 103_424}
    (admission,) = admissions(task.pk)
    (placement,) = admission.placements.all()
    assert (admission.waited_seconds, placement.chosen, placement.card["free"]) == (90, True, 16)


def test_in_the_project_pool_the_quota_is_given_back(world: World, now: datetime) -> None:
    cluster = world.a_plant()
    own = world.a_pool("map-team", project=world.project)
    world.a_node(cluster, "own-0", pool=own, mark=world.mark)
    submit(world)
    cycle(now)
    assert (Attempt.objects.get().pool, Quota.objects.get(resource=CARDS).held) == (own, 0)
    assert quotas.ledger_drift() == ()


def test_a_second_cycle_changes_nothing(world: World, now: datetime) -> None:
    world.a_plant()
    submit(world)
    assert [cycle(now), cycle(now)] == [1, 0]
    assert (Admission.objects.count(), Placement.objects.count()) == (1, 1)


def test_whoever_waits_is_told_why_and_only_when_it_changes(world: World, now: datetime) -> None:
    world.a_plant(cards_of=1)
    submit(world, "first", resources=cards(8))
    task = submit(world, "second", resources=cards(2))
    cycle(now)
    expected = {"pool": "public", "cluster": "beijing", "resource": CARDS, "needed": 2, "free": 0, "position": 1}
    assert state(task) == ("queued", "PoolFull", expected)
    seq = task.seq
    cycle(now + timedelta(seconds=5))
    assert (state(task)[2], task.seq) == (expected, seq)


def test_paused_deleted_and_finished_tasks_are_not_in_the_queue(world: World, now: datetime) -> None:
    world.a_plant()
    lifecycle.pause_task(submit(world, "paused"), by=world.alice, now=now)
    lifecycle.stop_task(submit(world, "stopped"), by=world.alice, now=now)
    lifecycle.delete_task(submit(world, "deleted"), by=world.alice, now=now)
    assert (read_snapshot().queued, cycle(now)) == ((), 0)


def test_a_decision_on_an_old_picture_admits_nobody(world: World, now: datetime) -> None:
    world.a_plant()
    task = submit(world)
    decisions = decide(read_snapshot(), now)
    lifecycle.pause_task(task, by=world.alice, now=now)
    assert (apply(decisions, now=now), state(task)[0]) == (0, "paused")
    assert (Admission.objects.count(), quotas.pool_use(), quotas.ledger_drift()) == (0, {}, ())


def test_low_runs_in_public_without_quota_and_high_only_in_the_own_pool(world: World, now: datetime) -> None:
    world.a_plant(quota=0)
    low = submit(world, "low", priority=Priority.LOW)
    high = submit(world, "high", priority=Priority.HIGH)
    cycle(now)
    assert state(low)[0] == "starting"
    assert state(high) == ("queued", "NoCapableCluster", {"mark": "rtx-4090", "position": 1})


def test_without_quota_a_task_waits_for_the_own_pool_and_is_told_of_the_quota(world: World, now: datetime) -> None:
    cluster = world.a_plant(quota=0)
    own = world.a_pool("map-team", project=world.project)
    world.a_node(cluster, "own-0", pool=own, mark=world.mark)
    submit(world, "first", resources=cards(8))
    task = submit(world)
    cycle(now)
    assert state(task) == (
        "queued",
        "ProjectQuota",
        {"resource": CARDS, "asked": 1, "used": 0, "limit": 0, "position": 1},
    )


def test_of_two_gangs_in_one_second_one_runs_whole(world: World, now: datetime) -> None:
    """F34: the other has no pod and no card, and starts when the first ends."""
    world.a_plant(cards_of=1)
    first, second = (submit(world, name, resources=cards(1, nodes=5)) for name in ("first", "second"))
    cycle(now)
    assert [state(first)[0], state(second)[:2]] == ["starting", ("queued", "GangPartial")]
    assert quotas.pool_use()[world.pool.pk, CARDS] == 5
    attempt = first.attempts.get()
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=now, removed_at=now)
    cycle(now)
    assert state(second)[0] == "starting"


def test_pods_seen_elsewhere_free_the_planned_node(world: World, now: datetime) -> None:
    world.a_plant()
    submit(world, resources=cards(8))
    cycle(now)
    attempt = Attempt.objects.get()
    Instance.objects.create(attempt=attempt, uid="u", name="p", node="gpu-1", state="running", first_seen_at=now)
    used = {node.name: node.used.cards for node in read_snapshot().nodes}
    assert used == {"cpu-0": 0, "gpu-0": 0, "gpu-1": 8}


@pytest.mark.parametrize(("pod", "taken"), [("running", 1), ("terminating", 1), ("succeeded", 0), ("gone", 0)])
def test_after_the_end_only_pods_that_still_stand_take_a_place(
    world: World, now: datetime, pod: str, taken: int
) -> None:
    """F03: finished pods are no use; nothing is released on silence."""
    world.a_plant()
    submit(world)
    cycle(now)
    attempt = Attempt.objects.get()
    facts = {"node": "gpu-0", "state": "failed" if pod == "gone" else pod, "gone_at": now if pod == "gone" else None}
    Instance.objects.create(attempt=attempt, uid="u", name="p", first_seen_at=now, **facts)
    Attempt.objects.filter(pk=attempt.pk).update(finished_at=now)
    assert {node.name: node.used.cards for node in read_snapshot().nodes}["gpu-0"] == taken


def test_a_resumed_task_returns_to_the_cluster_where_its_objects_stand(world: World, now: datetime) -> None:
    world.a_plant()
    task = submit(world)
    cycle(now)
    Task.objects.update(state="queued", intent="run")
    other = world.a_cluster("another")
    world.a_node(other, "gpu-9", pool=world.pool, mark=world.mark)
    world.a_node(other, "gpu-8", pool=world.pool, mark=world.mark)
    world.a_node(other, "gpu-7", pool=world.pool, mark=world.mark)
    assert cycle(now) == 1
    assert task.attempts.get().cluster == world.cluster


def test_a_deployment_starts_with_its_least_instances(world: World, now: datetime) -> None:
    world.a_plant(cards_of=1)
    task = submit(world, kind=KindName.DEPLOYMENT, resources=cards(4, nodes=3), min_available=2)
    cycle(now)
    assert (state(task)[0], task.attempts.get().planned_nodes) == ("starting", {"gpu-0": 2})


def test_a_cpu_task_goes_to_the_cpu_node(world: World, now: datetime) -> None:
    """F04: no cards asked, no cards' node taken."""
    world.a_plant()
    container = a_container(cpu=4_000, memory=4_096)
    task = submit(world, resources=ResourceRequest(), containers=(container,))
    cycle(now)
    assert task.attempts.get().planned_nodes == {"cpu-0": 1}


@pytest.mark.parametrize("tasks", [1, 12])
def test_a_snapshot_costs_the_same_for_few_and_many(
    world: World, now: datetime, tasks: int, django_assert_num_queries: Any
) -> None:
    """F32: the number of queries does not follow the number of tasks."""
    world.a_plant()
    for turn in range(tasks):
        submit(world, f"t{turn}")
    cycle(now)
    for turn in range(tasks, 2 * tasks):
        Quota.objects.update(limit=100)
        submit(world, f"t{turn}")
    with django_assert_num_queries(9):
        snapshot = read_snapshot()
    assert (len(snapshot.queued), len(snapshot.running)) == (tasks, tasks)


@pytest.mark.django_db(transaction=True)
def test_only_one_cycle_is_at_work(now: datetime) -> None:
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [CYCLE_LOCK])
        assert cycle(now) is None
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [CYCLE_LOCK])
    finally:
        other.close()
    assert (cycle(now), connection.in_atomic_block) == (0, False)
