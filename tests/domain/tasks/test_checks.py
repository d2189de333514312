"""What a well-formed spec may not ask for (domain.md §§5, 6; F04, F05)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.errors import Code, Refusal
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.tasks.domain.checks import LargestNodes, check, nearest_marks, undominated
from apps.tasks.domain.spec import Priority, ResourceRequest, TaskSpec
from tests.support.specs import MARKS, a_container, a_cpu_container, a_gpu_spec, a_spec


def node(cpu: int, memory: int, cards: int = 0) -> Bundle:
    return Bundle(Millicores(cpu), MiB(memory), Cards(cards))


LARGEST = LargestNodes(
    cpu_nodes=(node(56_000, 262_144), node(16_000, 1_048_576)),
    cards={"rtx-4090": 8},
    all_nodes={"orin": (node(8_000, 16_384, 2),)},
)


def refusal(spec: TaskSpec, largest: LargestNodes = LARGEST) -> Refusal:
    found = check(spec, marks=MARKS, largest=largest)
    assert found is not None
    return found


def on_cpu(cpu: int, memory: int, **resources: Any) -> TaskSpec:
    return a_spec(containers=(a_cpu_container(cpu=cpu, memory=memory),), resources=ResourceRequest(**resources))


@pytest.mark.parametrize(
    "spec",
    [
        a_spec(),
        a_gpu_spec(cards=8),
        on_cpu(56_000, 262_144),
        on_cpu(16_000, 1_048_576),
        on_cpu(8_000, 16_384, mark="orin", cards_per_node=2),
        a_gpu_spec(project="map-team", priority=Priority.HIGH),
    ],
)
def test_what_some_node_could_hold_is_not_refused(spec: TaskSpec) -> None:
    assert check(spec, marks=MARKS, largest=LARGEST) is None


def test_f05_nine_cards_on_nodes_of_eight_are_refused_with_the_largest_possible() -> None:
    found = refusal(a_gpu_spec(cards=9))
    assert (found.code, list(found.fields), dict(found.numbers)) == (
        Code.IMPOSSIBLE_REQUEST,
        ["resources.cards_per_node"],
        {"resource": "cards:rtx-4090", "asked": 9, "largest": 8},
    )
    assert found.detail == "no node has 9 × rtx-4090; the largest has 8"


def test_f05_where_no_node_was_seen_yet_the_marks_own_figure_counts() -> None:
    assert refusal(a_gpu_spec(cards=9), LargestNodes()).numbers["largest"] == 8
    assert check(on_cpu(10**8, 1), marks=MARKS, largest=LargestNodes()) is None


@pytest.mark.parametrize(
    ("spec", "detail", "numbers"),
    [
        (
            on_cpu(57_000, 1024),
            "no node has 57 cores; the largest has 56",
            {"resource": "cpu", "asked": 57_000, "largest": 56_000},
        ),
        (
            on_cpu(1_000, 1_048_577),
            "no node has 1048577Mi of memory; the largest has 1024Gi",
            {"resource": "memory", "asked": 1_048_577, "largest": 1_048_576},
        ),
        (
            on_cpu(17_000, 262_145),
            "no node has 17 cores together with 262145Mi of memory; with that many cores the largest has 256Gi",
            {"resource": "memory", "asked": 262_145, "largest": 262_144},
        ),
        (
            on_cpu(9_000, 1, mark="orin", cards_per_node=1),
            "no node has 9 cores; the largest has 8",
            {"resource": "cpu", "asked": 9_000, "largest": 8_000},
        ),
    ],
)
def test_f05_cores_and_memory_beyond_the_largest_node_are_refused(
    spec: TaskSpec, detail: str, numbers: dict[str, object]
) -> None:
    found = refusal(spec)
    assert (found.code, found.detail, dict(found.numbers)) == (Code.IMPOSSIBLE_REQUEST, detail, numbers)


def test_an_unknown_mark_is_refused_with_the_valid_ones_nearest_first() -> None:
    found = refusal(a_spec(resources=ResourceRequest("rtx4090", 1)))
    assert (found.code, list(found.fields)) == (Code.UNKNOWN_MARK, ["resources.mark"])
    assert found.numbers == {"mark": "rtx4090", "valid_marks": ["rtx-4090", "a100-80g", "orin"]}


def test_an_unknown_mark_where_none_exists_is_refused_all_the_same() -> None:
    found = check(a_gpu_spec(), marks={}, largest=LARGEST)
    assert found is not None
    assert found.detail == "there is no mark “rtx-4090”; valid are: –"


@given(st.text(max_size=300))
def test_every_mark_is_offered_exactly_once(wanted: str) -> None:
    assert sorted(nearest_marks(wanted, MARKS)) == sorted(MARKS)


def test_high_is_refused_for_a_personal_task() -> None:
    found = refusal(a_gpu_spec(priority=Priority.HIGH))
    assert (found.code, list(found.fields)) == (Code.INVALID, ["priority"])


def test_what_cannot_be_split_is_refused_at_its_field() -> None:
    assert list(refusal(a_spec(containers=(a_container(),))).fields) == ["containers.0.cpu"]


def test_shared_memory_beyond_the_containers_memory_is_refused() -> None:
    found = refusal(dataclasses.replace(on_cpu(1_000, 1_024), shm=MiB(1_025)))
    assert (list(found.fields), dict(found.numbers)) == (
        ["shm"],
        {"resource": "shm", "asked": 1_025, "largest": 1_024},
    )


NODES = st.lists(st.builds(node, st.integers(0, 9), st.integers(0, 9), st.integers(0, 3)), max_size=12)


@given(NODES, st.builds(node, st.integers(0, 9), st.integers(0, 9), st.integers(0, 3)))
def test_the_undominated_nodes_tell_the_same_as_all(nodes: list[Bundle], want: Bundle) -> None:
    few = undominated(tuple(nodes))
    assert any(one.covers(want) for one in few) == any(one.covers(want) for one in nodes)
    assert not any(one is not other and one.covers(other) for one in few for other in few)
