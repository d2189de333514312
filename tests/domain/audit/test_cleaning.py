"""What the audit keeps: no secret, nothing without bound, nothing that the database refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.domain.cleaning import HIDDEN, clean, clean_text


@pytest.mark.parametrize(
    "key",
    ["password", "DB_PASSWORD", "apiKey", "api-key", "AWS_SECRET_ACCESS_KEY", "token", "credentials", "Authorization"],
)
def test_a_value_under_a_secret_looking_key_is_hidden(key: str) -> None:
    assert clean({"env": [{key: "hunter2"}]}) == {"env": [{key: HIDDEN}]}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("curl -H 'Authorization: Bearer abc'", f"curl -H 'Authorization: Bearer {HIDDEN}'"),
        ("redis://me:hunter2@cache:6379", f"redis://me:{HIDDEN}@cache:6379"),
        ("train --token=abc --lr 1", f"train --token={HIDDEN} --lr 1"),
    ],
)
def test_a_secret_inside_a_harmless_text_is_hidden(text: str, kept: str) -> None:
    assert clean({"command": text}) == {"command": kept}


def test_values_become_what_json_can_hold() -> None:
    at = datetime(2026, 12, 1, tzinfo=UTC)
    values: dict[Any, Any] = {"at": at, "blob": b"x", "nan": float("inf"), "set": {1}, "none": None, 3: True}
    assert clean(values) == {"at": at.isoformat(), "blob": HIDDEN, "nan": "inf", "set": [1], "none": None, "3": True}


def test_sizes_are_bounded_and_a_cut_is_shown() -> None:
    kept = clean({"text": "x" * 9000, "many": list(range(100)), "deep": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}})
    assert (len(kept["text"]), kept["text"][-1], kept["many"][-1]) == (500, "…", "… 40 more")
    assert kept["deep"] == {"a": {"b": {"c": {"d": {"e": "…"}}}}}


def test_more_keys_than_anyone_reads_are_counted() -> None:
    assert clean({str(number): 0 for number in range(70)})["…"] == "10 more"


def test_a_text_is_cut_and_storable() -> None:
    assert clean_text("a\x00\ud800bc", 4) == "a␀?…"


@given(st.dictionaries(st.text(), st.recursive(st.floats() | st.text() | st.binary(), st.lists)))
def test_whatever_is_recorded_is_strict_json_without_nul(values: dict[str, Any]) -> None:
    written = json.dumps(clean(values), allow_nan=False, ensure_ascii=False)
    assert b"\\u0000" not in written.encode()
