"""The books as values (domain.md §6), and the promise they keep under any interleaving."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.kernel.quantities import QuantityError
from apps.quotas.domain.ledger import (
    LARGEST_LIMIT,
    Books,
    Drift,
    Entry,
    Explanation,
    Shortage,
    Standing,
    drift,
    limit_fault,
    parse_defaults,
    resource_fault,
    shortage,
)

CARDS = "cards:rtx-4090"


def test_a_reservation_within_the_limit_is_written() -> None:
    books = Books({CARDS: 4}).reserve("a", 1, {CARDS: 3})
    assert books == Books({CARDS: 4}, (Entry("a", 1, CARDS, 3),))


def test_the_refusal_names_resource_asked_used_and_limit() -> None:
    books = Books({CARDS: 4}, (Entry("a", 1, CARDS, 3),))
    assert books.reserve("b", 1, {CARDS: 2}) == Shortage(CARDS, asked=2, used=3, limit=4)


def test_all_the_amounts_are_held_or_none() -> None:
    books = Books({"cpu": 8000, "memory": 10})
    assert books.reserve("a", 1, {"cpu": 1000, "memory": 11}) == Shortage("memory", asked=11, used=0, limit=10)


def test_a_missing_quota_row_means_nothing_may_be_held() -> None:
    """F04: the error names the resource really exceeded."""
    assert Books({}).reserve("a", 1, {CARDS: 1}) == Shortage(CARDS, asked=1, used=0, limit=0)


def test_nothing_asked_of_a_missing_row_is_fine() -> None:
    """F04: a CPU-only task with no cards is counted in cpu and memory only."""
    assert shortage({CARDS: 0, "cpu": 1000}, {"cpu": Standing(1000, 0)}) is None


def test_booking_twice_is_booking_once() -> None:
    once = Books({CARDS: 4}).reserve("a", 1, {CARDS: 3})
    assert isinstance(once, Books)
    assert once.reserve("a", 1, {CARDS: 3}) == once


def test_shrinking_is_allowed_above_a_lowered_limit() -> None:
    overhanging = Books({CARDS: 2}, (Entry("a", 1, CARDS, 5),))
    assert overhanging.standing(CARDS).overhang == 3
    assert overhanging.reserve("a", 1, {CARDS: 4}) == Books({CARDS: 2}, (Entry("a", 1, CARDS, 4),))


def test_above_a_lowered_limit_new_tasks_are_refused_until_the_overhang_is_gone() -> None:
    overhanging = Books({CARDS: 2}, (Entry("a", 1, CARDS, 5),))
    assert overhanging.reserve("b", 1, {CARDS: 1}) == Shortage(CARDS, asked=1, used=5, limit=2)


def test_releasing_one_attempt_leaves_the_other() -> None:
    books = Books({CARDS: 4}, (Entry("a", 1, CARDS, 1), Entry("a", 2, CARDS, 2)))
    assert books.release("a", 1).open == (Entry("a", 2, CARDS, 2),)
    assert books.release("a").open == ()


def test_the_explanation_names_each_holder_once() -> None:
    books = Books({CARDS: 9}, (Entry("a", 1, CARDS, 1), Entry("b", 1, CARDS, 2), Entry("a", 2, CARDS, 3)))
    assert books.explain(CARDS) == Explanation(Standing(9, 6), ("a", "b"))


def test_drift_names_the_quotas_whose_sum_is_not_the_ledgers() -> None:
    assert drift({1: 4, 2: 0, 3: 5}, {1: 4, 3: 6, 4: 1}) == (Drift(3, 5, 6), Drift(4, 0, 1))


@pytest.mark.parametrize("limit", [-1, 0.5, 4.0, math.nan, math.inf, True, "4", None, LARGEST_LIMIT + 1])
def test_what_is_no_whole_number_in_range_is_no_limit(limit: object) -> None:
    assert limit_fault(limit) is not None


@pytest.mark.parametrize("limit", [0, 1, LARGEST_LIMIT])
def test_whole_numbers_from_nothing_up_are_limits(limit: int) -> None:
    assert limit_fault(limit) is None


@pytest.mark.parametrize("resource", ["cpu", "memory", "cards:a100-80g"])
def test_resources_that_a_quota_can_limit(resource: str) -> None:
    assert resource_fault(resource) is None


@pytest.mark.parametrize("resource", ["", "cores", "cards:", "cards:A100", "cpu\n", "cards:" + "a" * 60])
def test_what_no_quota_can_limit(resource: str) -> None:
    assert resource_fault(resource) is not None


def test_the_default_quota_is_read_in_whole_units() -> None:
    read = parse_defaults(" cpu=32, memory=128Gi,cards:a100-80g=2 ,")
    assert read == {"cpu": 32_000, "memory": 131_072, "cards:a100-80g": 2}


@pytest.mark.parametrize("text", ["cpu", "cores=3", "cards:a100-80g=1.5", "memory=lots"])
def test_a_default_quota_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_defaults(text)


@given(st.integers(0, 100), st.integers(0, 100))
def test_free_and_overhang_are_never_both_there(limit: int, used: int) -> None:
    standing = Standing(limit, used)
    assert standing.free - standing.overhang == limit - used
    assert min(standing.free, standing.overhang) == 0


class Ledger(RuleBasedStateMachine):
    """Any interleaving of reserve, release, resize and limit changes keeps the books."""

    def __init__(self) -> None:
        super().__init__()
        self.books = Books({CARDS: 5, "cpu": 9})
        self.model: dict[tuple[str, int], dict[str, int]] = {}

    @rule(
        holder=st.sampled_from("abc"),
        attempt=st.integers(1, 2),
        cards=st.integers(0, 6),
        cpu=st.integers(0, 6),
    )
    def reserve(self, holder: str, attempt: int, cards: int, cpu: int) -> None:
        amounts = {CARDS: cards, "cpu": cpu}
        before = {name: self.books.standing(name) for name in amounts}
        mine = self.model.get((holder, attempt), {})
        after = self.books.reserve(holder, attempt, amounts)
        grows = {name: amounts[name] - mine.get(name, 0) for name in amounts}
        fits = all(grow <= 0 or before[name].used + grow <= before[name].limit for name, grow in grows.items())
        assert isinstance(after, Books) == fits
        if isinstance(after, Books):
            self.books = after
            self.model[holder, attempt] = amounts

    @rule(holder=st.sampled_from("abc"), attempt=st.one_of(st.none(), st.integers(1, 2)))
    def release(self, holder: str, attempt: int | None) -> None:
        once = self.books.release(holder, attempt)
        assert once.release(holder, attempt) == once
        self.books = once
        ended = [key for key in self.model if key[0] == holder and attempt in (None, key[1])]
        for key in ended:
            del self.model[key]

    @rule(limit=st.integers(0, 9))
    def set_limit(self, limit: int) -> None:
        self.books = Books({**self.books.limits, CARDS: limit}, self.books.open)

    @invariant()
    def held_is_the_sum_of_the_open(self) -> None:
        for name in (CARDS, "cpu"):
            expected = sum(amounts.get(name, 0) for amounts in self.model.values())
            assert self.books.standing(name).used == expected >= 0


test_ledger_under_any_interleaving = Ledger.TestCase
