"""Batches into the store: each line once, in order, only into Tasks of the sender's own cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apps.logs import selectors
from apps.logs.domain.vector import Fault
from apps.logs.ingest import Summary, ingest
from apps.logs.models import SetAside
from apps.tasks.models import Attempt, Task
from tests.support.running import NAMESPACE, a_batch, a_running_task, a_shipping_cluster, an_instance, written
from tests.support.world import World

RECORDED = Path(__file__).parents[2] / "recorded" / "vector"


def texts(task: Task, **wanted: Any) -> list[str]:
    return [line.text for line in selectors.lines(task.pk, **wanted).lines]


def test_lines_of_a_batch_are_stored_with_their_origin(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    assert ingest(cluster, a_batch(written(task, "epoch 1")), now=world.now) == Summary(1, 0)
    (line,) = selectors.lines(task.pk).lines
    assert selectors.wire(line) == {
        "at": "2026-12-01T12:00:00.000000000Z",
        "attempt": 1,
        "instance": f"{task.object_name}-x7k2p",
        "container": "main",
        "stream": "stdout",
        "text": "epoch 1",
        "place": str(line.place),
    }


def test_f24_a_batch_that_comes_again_is_stored_once(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    batch = a_batch(*(written(task, f"line {number}", nth=number) for number in range(50)))
    assert ingest(cluster, batch, now=world.now) == Summary(50, 0)
    overlapping = a_batch(*(written(task, f"line {number}", nth=number) for number in range(40, 60)))
    assert ingest(cluster, batch, now=world.now) == Summary(0, 50)
    assert ingest(cluster, overlapping, now=world.now) == Summary(10, 10)
    assert texts(task) == [f"line {number}" for number in range(60)]


def test_batches_out_of_order_are_read_in_order(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    for first in (40, 0, 20):
        batch = a_batch(*(written(task, f"line {number}", nth=number) for number in range(first, first + 20)))
        ingest(cluster, batch, now=world.now)
    assert texts(task) == [f"line {number}" for number in range(60)]


def test_lines_of_one_nanosecond_keep_the_order_in_which_they_were_sent(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    ingest(cluster, a_batch(*(written(task, text) for text in ("b", "a", "c"))), now=world.now)
    assert texts(task) == ["b", "a", "c"]


def test_a_bad_event_costs_no_other_line_and_is_counted(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    batch = a_batch({"message": 7}, written(task, "good"), written(task, "late", timestamp="never"), "text")
    assert ingest(cluster, batch, now=world.now).set_aside == {Fault.MALFORMED: 2, Fault.NO_TIME: 1}
    assert texts(task) == ["good"]
    assert dict(SetAside.objects.values_list("reason", "count")) == {"malformed": 2, "no_time": 1}


def test_a_shipper_never_writes_into_a_task_of_another_cluster(world: World) -> None:
    beijing, shanghai = a_shipping_cluster(world), a_shipping_cluster(world, "shanghai", "other-token")
    task = a_running_task(world, beijing)
    labelled, bare = written(task, "forged"), written(task, "forged too", kubernetes=None)
    assert ingest(shanghai, a_batch(labelled, bare), now=world.now).set_aside == {
        Fault.UNKNOWN_TASK: 1,
        Fault.NOT_OURS: 1,
    }
    assert texts(task) == []


def test_a_pod_that_borrows_another_scopes_labels_is_not_believed(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    forged = written(task, "forged")
    forged["kubernetes"]["pod_namespace"] = "platform-u-7"
    assert ingest(cluster, a_batch(forged), now=world.now).set_aside == {Fault.WRONG_NAMESPACE: 1}


def test_a_line_without_kubernetes_facts_finds_its_task_by_the_pod_seen(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    an_instance(task, world, uid="uid-1", name="renamed")
    ingest(cluster, a_batch(written(task, "from the path", kubernetes=None)), now=world.now)
    assert texts(task) == ["from the path"]


def test_a_line_of_a_pod_not_yet_seen_finds_its_task_by_the_objects_whole_name(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    ingest(cluster, a_batch(written(task, "first words", kubernetes=None)), now=world.now)
    assert texts(task) == ["first words"]


def test_what_a_pod_writes_is_kept_as_it_is_but_for_what_cannot_be_stored(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    odd = ["\x1b[0;39m \x1b[1;34mINFO\x1b[0m", "1%\r2%\r3%", "<script>", "a\x00b", "", "\u202eevil", "C:\\N\ttab"]
    ingest(cluster, a_batch(*(written(task, text, nth=nth) for nth, text in enumerate(odd))), now=world.now)
    assert texts(task) == [text.replace("\x00", "␀") for text in odd]


@pytest.mark.parametrize("name", ["job-two-containers.json", "late-end-of-a-partial-line.json"])
def test_a_recorded_body_is_stored_whole_and_once(world: World, name: str) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    Attempt.objects.update(namespace="default")
    body = (RECORDED / name).read_text().replace('"3f2b"', f'"{task.pk}"')
    messages = [event["message"] for event in json.loads(body)]
    first, again = (ingest(cluster, body.encode(), now=world.now) for _ in range(2))
    assert (first.stored, again.stored, again.repeated) == (len(messages), 0, len(messages))
    assert sorted(texts(task)) == sorted(messages)


def test_a_line_from_another_century_is_kept_too(world: World) -> None:
    cluster = a_shipping_cluster(world)
    task = a_running_task(world, cluster)
    times = ["1970-01-01T00:00:01Z", "2199-01-01T00:00:00Z"]
    ingest(cluster, a_batch(*(written(task, at, timestamp=at) for at in times)), now=world.now)
    assert texts(task) == times


def test_the_namespace_of_tests_is_the_attempts_own(world: World) -> None:
    task = a_running_task(world, a_shipping_cluster(world))
    assert task.attempts.get().namespace == NAMESPACE
