"""Kubernetes quantities and durations, at the edge (rest.md)."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.quantities import (
    LARGEST_MIB,
    LARGEST_MILLICORES,
    QuantityError,
    format_cpu,
    format_duration,
    format_memory,
    parse_count,
    parse_cpu,
    parse_duration,
    parse_memory,
    whole_mib,
)


@pytest.mark.parametrize(
    ("text", "millicores"),
    [("4", 4000), ("500m", 500), ("0.5", 500), ("0.0001", 1), ("1e3", 1_000_000), ("2k", 2_000_000), ("0", 0)],
)
def test_cpu_is_read_in_whole_millicores_rounded_up(text: str, millicores: int) -> None:
    assert parse_cpu(text) == millicores


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("16Gi", 16_384),
        ("512Mi", 512),
        ("1G", 954),
        ("1", 1),
        ("101Gi", 103_424),
        ("1048576", 1),
        ("1e9", 954),
    ],
)
def test_memory_is_read_in_whole_mib_rounded_up(text: str, mib: int) -> None:
    assert parse_memory(text) == mib


@pytest.mark.parametrize(
    "text",
    ["", " ", "four", "-1", "+1", "1 Gi", "0x10", "1GiB", "1e999", "NaN", "inf", "1.2.3", "٤", "4\x00", "9" * 41],
)
def test_what_is_no_quantity_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QuantityError, match="write for example 500m, 4 or 16Gi"):
        parse_cpu(text)


def test_more_than_any_machine_is_refused_before_it_can_overflow_a_sum() -> None:
    with pytest.raises(QuantityError, match="more than any machine"):
        parse_cpu("1e30")
    with pytest.raises(QuantityError, match="more than any machine"):
        parse_memory("1E")
    assert parse_cpu(str(LARGEST_MILLICORES // 1000)) == LARGEST_MILLICORES


def test_pieces_are_whole_numbers() -> None:
    assert (parse_count("4"), parse_count("2k")) == (4, 2000)
    with pytest.raises(QuantityError, match="whole numbers"):
        parse_count("500m")


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d12h", 129_600), ("0", 0), ("1h30m5s", 5405)]
)
def test_durations_are_read_in_their_units(text: str, seconds: int) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "30", "m", "-1h", "1.5h", "1h2h", "5m3h", "1w", "٣m", "30m\n5"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QuantityError, match="write for example 30m, 2h or 90s"):
        parse_duration(text)


def test_a_duration_ends_at_a_year() -> None:
    with pytest.raises(QuantityError, match="longer than a year"):
        parse_duration("367d")


@given(st.integers(0, LARGEST_MILLICORES))
def test_cpu_reads_back_what_it_writes(amount: int) -> None:
    assert parse_cpu(format_cpu(amount)) == amount


@given(st.integers(0, LARGEST_MIB))
def test_memory_reads_back_what_it_writes(amount: int) -> None:
    assert parse_memory(format_memory(amount)) == amount


@given(st.integers(0, 366 * 86_400))
def test_durations_read_back_what_they_write(seconds: int) -> None:
    assert parse_duration(format_duration(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@given(st.text())
def test_any_text_is_a_quantity_or_refused_never_a_crash(text: str) -> None:
    for parse in (parse_cpu, parse_memory, parse_count, parse_duration):
        with suppress(QuantityError):
            parse(text)


def test_what_a_machine_offers_is_rounded_down() -> None:
    assert (whole_mib("1G"), whole_mib("1.5Mi"), whole_mib("1E")) == (953, 1, LARGEST_MIB)
