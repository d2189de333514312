"""What exists and what is free, read from the tables (F03)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from apps.clusters.domain.inventory import CardCount, LargestRequest
from apps.kernel.clock import SYSTEM_CLOCK
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.scheduling.loop import run_cycle
from apps.scheduling.selectors import node_use, resources
from apps.tasks.domain.spec import ResourceRequest
from apps.tasks.models import Attempt, Instance
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec


def pods(world: World, now: datetime, *states: str) -> None:
    attempt = Attempt.objects.get()
    Instance.objects.bulk_create(
        Instance(attempt=attempt, uid=str(turn), name=f"p{turn}", node="gpu-0", state=state, first_seen_at=now)
        for turn, state in enumerate(states)
    )


def test_totals_are_right_and_nothing_counts_twice(world: World, now: datetime) -> None:
    """F03: total 8, usable 5, faulty 3, used 1, free 4, with one running, two succeeded and one failed pod."""
    world.a_plant(cards_of=0)
    world.a_node(world.cluster, "gpu-0", pool=world.pool, mark=world.mark, cards=5, cards_capacity=8)
    submit_task(a_spec(), by=world.alice, now=now)
    run_cycle(SYSTEM_CLOCK)
    pods(world, now, "running", "succeeded", "succeeded", "failed")
    (mark,) = resources().marks
    assert mark.cards == CardCount(built_in=8, usable=5, faulty=3, used=1, free=4)
    assert mark.largest == LargestRequest(cards_per_node=4, nodes=1)


def test_nodes_of_one_mark_are_counted_each_in_its_place(world: World) -> None:
    """F03: two nodes of one card each are two cards."""
    world.a_plant(cards_of=0)
    second = world.a_cluster("shanghai")
    for cluster in (world.cluster, second):
        world.a_node(cluster, "one", pool=world.pool, mark=world.mark, cards=1, cards_capacity=1)
    (mark,) = resources().marks
    assert [(place.cluster, place.pool, place.cards.free) for place in mark.places] == [
        ("beijing", "public", 1),
        ("shanghai", "public", 1),
    ]
    assert (mark.cards.usable, mark.largest) == (2, LargestRequest(1, 1))


def test_what_waits_is_counted_per_mark(world: World, now: datetime) -> None:
    world.a_plant(cards_of=1)
    submit_task(a_spec(resources=ResourceRequest("rtx-4090", 8, 2)), by=world.alice, now=now)
    found = resources()
    assert ([mark.queued for mark in found.marks], found.queued_cpu) == ([1], 0)


def test_the_roomiest_cpu_node_is_named(world: World) -> None:
    world.a_plant()
    assert resources().largest_cpu_node == Bundle(Millicores(64_000), MiB(262_144), Cards(0))


def test_pools_that_are_not_the_readers_are_left_out(world: World) -> None:
    """F26: no count of another's pool."""
    world.a_plant(cards_of=1)
    foreign = world.a_pool("sim-team", project=world.foreign_project)
    world.a_node(world.cluster, "theirs", pool=foreign, mark=world.mark)
    (mark,) = resources(visible={world.pool.pk}).marks
    assert mark.cards.usable == 8


@pytest.mark.parametrize("nodes", [1, 20])
def test_reading_costs_the_same_for_few_and_many_nodes(
    world: World, nodes: int, django_assert_num_queries: Any
) -> None:
    """F32: constant queries."""
    world.a_plant(cards_of=nodes)
    with django_assert_num_queries(6):
        assert resources().marks[0].cards.usable == 8 * nodes


def test_node_use_is_told_by_cluster_and_node(world: World, now: datetime) -> None:
    cluster = world.a_plant(cards_of=1)
    submit_task(a_spec(), by=world.alice, now=now)
    run_cycle(SYSTEM_CLOCK)
    assert node_use()[cluster.pk, "gpu-0"].cards == 1
