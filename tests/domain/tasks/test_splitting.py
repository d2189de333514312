"""A machine split over containers (domain.md §4; F04)."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.errors import Code, Refusal
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.tasks.domain.spec import ContainerSpec, ResourceRequest
from apps.tasks.domain.splitting import Share, apportion, booked, per_node, placed_amounts, split
from tests.support.specs import A100, EDGE, MARKS, RTX_4090, a_container, a_cpu_container, a_gpu_spec, a_spec, specs

SEED_MACHINE = MarkFacts("m", "nvidia.com/gpu", 1, Millicores(20_000), MiB(103_424))


def share(cpu: int, memory: int, cpu_request: int, memory_request: int, cards: int) -> Share:
    return Share(Millicores(cpu), MiB(memory), Millicores(cpu_request), MiB(memory_request), Cards(cards))


def splits(cards: int, *containers: ContainerSpec, mark: MarkFacts | None = A100) -> tuple[Share, ...] | Refusal:
    name = mark.mark if mark is not None and cards else None
    return split(containers, ResourceRequest(name, cards), mark if cards else None)


def cards_of(found: tuple[Share, ...] | Refusal) -> list[int]:
    assert not isinstance(found, Refusal), found
    return [one.cards for one in found]


def test_seed_a_cpu_and_memory_by_weight_on_twenty_cores_and_101_gib() -> None:
    first = a_cpu_container("pi", cpu=14_000, memory=51_200)
    second = a_cpu_container("pi2", cpu=9_333, memory=4_200)
    assert splits(1, first, second, mark=SEED_MACHINE) == (
        share(12_000, 95_583, 3_000, 23_895, 1),
        share(8_000, 7_841, 2_000, 1_960, 0),
    )


def test_left_over_units_go_to_the_largest_fractions_and_then_to_the_earlier() -> None:
    assert apportion(10, [1, 1, 1]) == (4, 3, 3)
    assert apportion(10, [1, 2, 4]) == (1, 3, 6)
    assert apportion(2, [1, 1, 1]) == (1, 1, 0)


def test_without_any_weight_the_shares_are_equal() -> None:
    assert splits(1, a_container("a"), a_container("b")) == (
        share(3_500, 60_416, 875, 15_104, 1),
        share(3_500, 60_416, 875, 15_104, 0),
    )


@pytest.mark.parametrize(
    ("containers", "path"),
    [
        ([a_cpu_container("a"), a_container("b", memory=MiB(1))], "containers.1.cpu"),
        ([a_cpu_container("a"), a_container("b", cpu=Millicores(1))], "containers.1.memory"),
        ([a_cpu_container("a"), a_cpu_container("b", cpu=0)], "containers.1.cpu"),
        ([a_cpu_container("a", memory=10**9), a_cpu_container("b", memory=1)], "containers.1.memory"),
        ([a_cpu_container("a", cpu=10**9), a_cpu_container("b", cpu=1)], "containers.1.cpu"),
        ([], "containers"),
    ],
)
def test_weights_half_given_or_shares_of_nothing_are_refused_at_the_field(
    containers: list[ContainerSpec], path: str
) -> None:
    found = splits(1, *containers)
    assert isinstance(found, Refusal)
    assert (found.code, list(found.fields)) == (Code.INVALID, [path])


@pytest.mark.parametrize(
    ("cards", "containers", "expected"),
    [
        (1, 3, [1, 0, 0]),
        (2, 2, [1, 1]),
        (5, 2, [3, 2]),
        (7, 3, [3, 2, 2]),
        (2, 3, [1, 1, 0]),
        (8, 1, [8]),
        (3, 3, [1, 1, 1]),
    ],
)
def test_one_card_goes_first_and_more_go_round(cards: int, containers: int, expected: list[int]) -> None:
    assert cards_of(splits(cards, *(a_container(f"c{place}") for place in range(containers)))) == expected


def test_cards_given_by_hand_are_kept_when_they_sum_up() -> None:
    first, second = a_container("a", cards=Cards(0)), a_container("b", cards=Cards(4))
    assert cards_of(splits(4, first, second)) == [0, 4]
    assert cards_of(splits(4, a_container("a"), second)) == [0, 4]


@pytest.mark.parametrize("given_cards", [(1, 2), (5, None), (0, 0), (-1, 5)])
def test_cards_given_by_hand_that_do_not_sum_up_are_refused(given_cards: tuple[Any, Any]) -> None:
    found = splits(4, *(a_container(f"c{place}", cards=count) for place, count in enumerate(given_cards)))
    assert isinstance(found, Refusal)
    paths = [f"containers.{place}.cards" for place, count in enumerate(given_cards) if count is not None]
    assert list(found.fields) == paths


@pytest.mark.parametrize("count", [None, 0])
def test_f04_no_cards_left_out_or_zero_is_cpu_only(count: int | None) -> None:
    container = a_cpu_container(cpu=4_001, memory=3, cards=count)
    assert splits(0, container) == (share(4_001, 3, 1_000, 1, 0),)


def test_f04_a_card_in_a_cpu_only_task_is_refused() -> None:
    found = splits(0, a_cpu_container(cards=1))
    assert isinstance(found, Refusal)
    assert (list(found.fields), found.numbers) == (["containers.0.cards"], {"given": 1, "wanted": 0})


@pytest.mark.parametrize("missing", ["cpu", "memory"])
@pytest.mark.parametrize(("cards", "mark"), [(0, None), (1, EDGE)])
def test_where_no_card_brings_them_cpu_and_memory_must_be_given(missing: str, cards: int, mark: Any) -> None:
    no_figure: dict[str, Any] = {missing: None}
    found = splits(cards, a_cpu_container("a"), dataclasses.replace(a_cpu_container("b"), **no_figure), mark=mark)
    assert isinstance(found, Refusal)
    assert list(found.fields) == [f"containers.1.{missing}"]


def test_devices_are_counted_in_pieces_beside_the_containers_own_figures() -> None:
    assert splits(2, a_cpu_container(), mark=EDGE) == (share(4_000, 8_192, 1_000, 2_048, 2),)


def test_an_unknown_kind_of_card_cannot_be_split() -> None:
    found = split((a_container(),), ResourceRequest("h100", 1), None)
    assert isinstance(found, Refusal)
    assert (found.code, list(found.fields)) == (Code.UNKNOWN_MARK, ["resources.mark"])


@given(total=st.integers(0, 10**9), weights=st.lists(st.integers(1, 10**9), min_size=1, max_size=20))
def test_shares_sum_to_the_whole_and_stay_within_one_of_their_part(total: int, weights: list[int]) -> None:
    shares = apportion(total, weights)
    assert sum(shares) == total
    assert all(
        abs(got * sum(weights) - total * weight) < sum(weights) for got, weight in zip(shares, weights, strict=True)
    )


@given(total=st.integers(0, 10**6), weights=st.lists(st.integers(1, 10**6), min_size=2, max_size=20))
def test_a_larger_weight_never_gets_less_and_equals_favour_the_earlier(total: int, weights: list[int]) -> None:
    shares = apportion(total, sorted(weights, reverse=True))
    assert all(earlier >= later for earlier, later in pairwise(shares))


@given(specs())
def test_every_share_has_something_requests_a_quarter_and_sums_are_exact(spec: Any) -> None:
    mark = MARKS.get(spec.resources.mark or "")
    found = split(spec.containers, spec.resources, mark)
    if isinstance(found, Refusal):
        assert next(iter(found.fields)).startswith("containers.")
        return
    node = per_node(spec, mark)
    assert (
        Bundle(
            Millicores(sum(one.cpu_limit for one in found)),
            MiB(sum(one.memory_limit for one in found)),
            Cards(sum(one.cards for one in found)),
        )
        == node
    )
    assert all(one.cpu_request == max(1, one.cpu_limit // 4) and one.cpu_limit >= 1 for one in found)
    assert all(one.memory_request == max(1, one.memory_limit // 4) and one.memory_limit >= 1 for one in found)


@pytest.mark.parametrize(
    ("spec", "amounts"),
    [
        (a_gpu_spec(cards=2, nodes=3), {"cards:rtx-4090": 6}),
        (a_spec(resources=ResourceRequest(nodes=3)), {"cpu": 12_000, "memory": 24_576}),
        (a_spec(resources=ResourceRequest("orin", 2, 2)), {"cards:orin": 4}),
        (a_gpu_spec(nodes=0), {}),
    ],
)
def test_cards_alone_are_booked_or_else_cpu_and_memory(spec: Any, amounts: dict[str, int]) -> None:
    assert booked(spec, MARKS.get(spec.resources.mark or "")) == amounts


def test_the_reservation_books_the_bound_share_and_not_the_requests() -> None:
    assert per_node(a_gpu_spec(cards=2), RTX_4090) == Bundle(Millicores(40_000), MiB(206_848), Cards(2))


@pytest.mark.parametrize(
    ("spec", "amounts"),
    [
        (a_gpu_spec(cards=2, nodes=3), {"cpu": 120_000, "memory": 620_544, "cards:rtx-4090": 6}),
        (a_spec(resources=ResourceRequest(nodes=2)), {"cpu": 8_000, "memory": 16_384}),
        (a_gpu_spec(nodes=0), {}),
    ],
)
def test_a_place_in_a_pool_takes_cores_and_memory_beside_the_cards(spec: Any, amounts: dict[str, int]) -> None:
    assert placed_amounts(spec, MARKS.get(spec.resources.mark or "")) == amounts
