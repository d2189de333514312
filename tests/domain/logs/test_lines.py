"""Lines: time without loss, places that sort as text, text that can be stored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.logs.domain.lines import (
    LATEST,
    LONGEST_LINE,
    LineFilter,
    Place,
    Source,
    StoredLine,
    format_time,
    new_line,
    parse_place,
    parse_time,
    storable,
    to_nanoseconds,
)

TASK = "0b1f6a1e-3f2b-4c1d-9e8f-000000000001"
SOURCE = Source(TASK, 1, "uid-1", "train-a-x", "main", "stdout")
places = st.builds(Place, st.integers(0, LATEST), st.integers(0, 10**13 - 1))


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2026-11-30T23:49:48.898924694Z", 1796082588898924694),
        ("1970-01-01T00:00:00Z", 0),
        ("2026-12-01T07:49:48.5+08:00", 1796082588500000000),
        ("2026-12-01T00:49:48.500000000-01:30", 1796091588500000000),
        ("2026-06-30T23:59:60Z", 1782864000000000000),
    ],
)
def test_a_time_is_read_to_the_nanosecond(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-30",
        "2026-11-30T23:49:48",
        "2026-13-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "9999-01-01T00:00:00Z",
        "²026-11-30T23:49:48Z",
    ],
)
def test_what_is_no_time_of_a_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_time(text)


@given(st.integers(0, LATEST))
def test_a_time_written_is_read_back_exactly(at_ns: int) -> None:
    assert parse_time(format_time(at_ns)) == at_ns


@given(places, places)
def test_places_sort_as_text_as_they_sort_as_values(left: Place, right: Place) -> None:
    assert (str(left) < str(right)) == (left < right)


@given(places)
def test_a_place_written_is_read_back(place: Place) -> None:
    assert parse_place(str(place)) == place


@pytest.mark.parametrize("text", ["", "5", "x" * 32, "9" * 32, "1" * 33, "-" + "1" * 31, "１" * 32])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="place"):
        parse_place(text)


def test_nul_and_lone_surrogates_are_shown_instead_of_breaking_the_store() -> None:
    assert storable("a\x00b\ud800c\U0001f600") == "a␀b�c\U0001f600"


def test_a_long_line_that_still_fits_is_kept_whole() -> None:
    assert storable("x" * LONGEST_LINE) == "x" * LONGEST_LINE


def test_f21_a_line_of_five_mebibytes_is_cut_with_a_visible_mark() -> None:
    kept = storable("x" * (5 * 1024 * 1024))
    assert kept == "x" * LONGEST_LINE + f"… [cut: {4 * 1024 * 1024} more bytes]"


def test_f21_a_cut_never_splits_a_character() -> None:
    assert storable("诊" * 400_000).startswith("诊" * (LONGEST_LINE // 3) + "… [cut: ")


@given(st.text())
def test_whatever_a_pod_writes_can_be_encoded_and_holds_no_nul(message: str) -> None:
    assert "\x00" not in storable(message).encode().decode()


def test_the_same_line_again_has_the_same_digest_and_any_other_has_not() -> None:
    digests = {
        new_line(1, source, message).digest
        for source in (
            SOURCE,
            Source(TASK, 1, "uid-1", "train-a-x", "main", "stderr"),
            Source(TASK, 1, "uid-2", "b", "main", "stdout"),
        )
        for message in ("one", "two", "one")
    }
    assert len(digests) == 6


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (LineFilter(), True),
        (LineFilter(instance="train-a-x", container="main", stream="stdout", attempt=1, q="ePOCH"), True),
        (LineFilter(instance="uid-1"), True),
        (LineFilter(instance="train-a-y"), False),
        (LineFilter(container="side"), False),
        (LineFilter(stream="stderr"), False),
        (LineFilter(attempt=2), False),
        (LineFilter(q="step"), False),
        (LineFilter(since_ns=100, until_ns=101), True),
        (LineFilter(since_ns=101), False),
        (LineFilter(until_ns=100), False),
    ],
)
def test_a_filter_finds_what_was_asked_for(wanted: LineFilter, found: bool) -> None:
    line = StoredLine(Place(100, 7), 1, "uid-1", "train-a-x", "main", "stdout", "Epoch 3")
    assert wanted.matches(line) is found


def test_a_moment_becomes_nanoseconds_without_rounding() -> None:
    assert to_nanoseconds(datetime(2026, 11, 30, 23, 49, 48, 898924, tzinfo=UTC)) == 1796082588898924000
