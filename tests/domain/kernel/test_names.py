"""Names (domain.md §3; F27, F28)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.names import DISPLAY_NAME, DNS_1035_LABEL, OBJECT_NAME_LENGTH, display_name_fault, object_name, slug

DISPLAY_NAMES = st.from_regex(r"[a-z][a-zA-Z0-9-]{0,62}", fullmatch=True)
LONGEST_SUFFIXES = ("-worker-99", "-launcher", "-driver", "-5d9c7b8f6d-x2x4z")


@pytest.mark.parametrize("name", ["a", "train-a", "trainA-1", "a-", "a" * 63, "x--y"])
def test_what_begins_lower_case_and_keeps_to_letters_digits_hyphens_is_a_display_name(name: str) -> None:
    assert display_name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "a name is needed"),
        ("a" * 64, "at most 63 characters, this has 64"),
        ("a" * 253, "at most 63 characters, this has 253"),
        ("Train", "begins with a lower-case letter a–z"),
        ("1a", "begins with a lower-case letter a–z"),
        ("-a", "begins with a lower-case letter a–z"),
        ("éa", "begins with a lower-case letter a–z"),
        ("a_x", "only letters, digits and hyphens"),
        ("a b", "only letters, digits and hyphens"),
        ("a\n", "only letters, digits and hyphens"),
        ("a\x00", "only letters, digits and hyphens"),
        ("a\ud800", "only letters, digits and hyphens"),
        ("训练", "begins with a lower-case letter a–z"),
    ],
)
def test_every_other_display_name_is_refused_with_the_reason(name: str, fault: str) -> None:
    assert display_name_fault(name) == fault


def test_f28_a_name_cut_at_a_hyphen_does_not_end_in_one() -> None:
    assert slug("a" * 23 + "-tail") == "a" * 23


def test_the_suffix_is_the_base32_of_the_five_bytes() -> None:
    assert object_name("Train-A"[1:], b"\x00\x00\x00\x00\x00") == "rain-a-aaaaaaaa"
    assert object_name("train", b"\xff\xff\xff\xff\xff") == "train-77777777"
    assert object_name("train", b"\x00\x44\x32\x14\xc7") == "train-abcdefgh"


def test_other_than_five_bytes_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="5 bytes"):
        object_name("train", b"1234")


@given(name=DISPLAY_NAMES, entropy=st.binary(min_size=5, max_size=5))
def test_f28_object_names_are_dns_labels_that_leave_room_for_every_suffix(name: str, entropy: bytes) -> None:
    made = object_name(name, entropy)
    assert len(made) <= OBJECT_NAME_LENGTH
    assert all(DNS_1035_LABEL.fullmatch(made + suffix) and len(made + suffix) <= 63 for suffix in LONGEST_SUFFIXES)


@given(name=DISPLAY_NAMES, one=st.binary(min_size=5, max_size=5), other=st.binary(min_size=5, max_size=5))
def test_f27_equal_names_of_different_chance_are_different_objects(name: str, one: bytes, other: bytes) -> None:
    assert (object_name(name, one) == object_name(name, other)) == (one == other)


@given(st.text())
def test_a_text_is_a_display_name_exactly_when_the_rule_matches_it(text: str) -> None:
    assert (display_name_fault(text) is None) == bool(re.fullmatch(DISPLAY_NAME.pattern.strip("^$"), text))
