"""Amounts of machine as one value (style.md rule 3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.resources import NOTHING, Bundle, Cards, MiB, Millicores


def bundle(cpu: int = 0, memory: int = 0, cards: int = 0) -> Bundle:
    return Bundle(Millicores(cpu), MiB(memory), Cards(cards))


BUNDLES = st.builds(bundle, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 64))
WANTS = BUNDLES.filter(lambda want: want != NOTHING)


@given(BUNDLES, BUNDLES)
def test_what_is_added_can_be_taken_off_again(one: Bundle, other: Bundle) -> None:
    assert one + other - other == one


@given(BUNDLES, st.integers(0, 20))
def test_times_is_adding_again_and_again(one: Bundle, times: int) -> None:
    assert one * times == sum([one] * times, NOTHING)


@given(BUNDLES, WANTS)
def test_as_many_fit_as_are_covered_and_not_one_more(node: Bundle, want: Bundle) -> None:
    times = node.times_covering(want)
    assert node.covers(want * times)
    assert not node.covers(want * (times + 1))


def test_every_dimension_must_be_covered() -> None:
    node = bundle(8, 8, 1)
    assert node.covers(node)
    assert [node.covers(want) for want in (bundle(9), bundle(0, 9), bundle(0, 0, 2))] == [False, False, False]


def test_nothing_fits_into_an_oversubscribed_node() -> None:
    assert (bundle(4, 8) - bundle(5, 1)).times_covering(bundle(1)) == 0


def test_an_oversubscribed_node_has_no_room_rather_than_negative_room() -> None:
    assert (bundle(4, 8, 1) - bundle(5, 1, 2)).clamped() == bundle(0, 7, 0)


def test_how_often_nothing_fits_is_no_question() -> None:
    with pytest.raises(ValueError, match="without end"):
        bundle(1).times_covering(NOTHING)
