"""The pure parts: quantities, indexes, template hashes, rollout arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkube.embedded import quantities
from devkube.embedded.controllers.job_view import parse_indexes, write_indexes
from devkube.embedded.controllers.rollout import template_hash
from devkube.embedded.rules.workloads import share

SUFFIXES = st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "u", "n"])


@pytest.mark.parametrize(
    ("given_", "written"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("10666Mi", "10666Mi"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("0", "0"),
        ("0Mi", "0"),
        ("512", "512"),
        ("-1", "-1"),
    ],
)
def test_writes_quantities_as_the_real_server(given_: str, written: str) -> None:
    assert quantities.canonical(given_) == written


@given(st.integers(0, 10**6), SUFFIXES)
def test_the_canonical_form_means_the_same_and_is_stable(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    written = quantities.canonical(text)
    assert quantities.parse(written) == quantities.parse(text)
    assert quantities.canonical(written) == written


@pytest.mark.parametrize("bad", ["", "1 Gi", "Gi", "1Gb", "--1", "1e1000000", "NaN", "inf", "0x10", "1\x00", "٣"])
def test_refuses_what_is_no_quantity(bad: str) -> None:
    with pytest.raises(quantities.QuantityError):
        quantities.parse(bad)


@given(st.fractions(Fraction(0), Fraction(10**6), max_denominator=1000))
def test_writing_never_loses_thousandths(value: Fraction) -> None:
    milli = Fraction(int(value * 1000), 1000)
    assert quantities.parse(quantities.write(milli)) == milli


@given(st.sets(st.integers(0, 300)))
def test_indexes_survive_their_short_form(indexes: set[int]) -> None:
    assert parse_indexes(write_indexes(indexes)) == indexes


def test_writes_runs_of_indexes_short() -> None:
    assert write_indexes({0, 1, 2, 4, 6, 7}) == "0-2,4,6,7"


@given(st.integers(0, 100), st.integers(0, 1000))
def test_a_share_rounds_both_ways(percent: int, whole: int) -> None:
    up, down = (share(f"{percent}%", whole, up=way) for way in (True, False))
    assert 0 <= up - down <= 1
    assert down * 100 <= percent * whole <= up * 100


def test_a_template_hash_depends_on_content_not_on_order() -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert template_hash(one, 0) == template_hash(other, 0) != template_hash(one, 1)
    assert len(template_hash(one, 0)) == 10
