"""What a token looks like, how long it lives and what it may do."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.domain.tokens import (
    DEFAULT_LIFE,
    LONGEST_LIFE,
    Scope,
    digest,
    plausible,
    token_fault,
    token_text,
    usable,
    use_is_worth_noting,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@given(st.text())
def test_a_digest_is_sha256_of_whatever_text(text: str) -> None:
    assert digest(text) == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_a_token_can_be_told_from_other_text() -> None:
    assert plausible(token_text("abc"))
    assert not any(plausible(text) for text in ("", "abc", "ptk_" + "x" * 200, "ptk_ä", "Ptk_abc"))


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "answer"),
    [
        (NOW + SECOND, None, True),
        (NOW, None, False),
        (NOW - SECOND, None, False),
        (NOW + SECOND, NOW - SECOND, False),
        (NOW + SECOND, NOW + SECOND, False),
    ],
)
def test_a_token_works_until_it_expires_or_is_revoked(
    expires_at: datetime, revoked_at: datetime | None, answer: bool
) -> None:
    assert usable(expires_at=expires_at, revoked_at=revoked_at, now=NOW) is answer


@pytest.mark.parametrize(
    ("last", "answer"), [(None, True), (NOW, False), (NOW - 59 * SECOND, False), (NOW - 60 * SECOND, True)]
)
def test_use_is_noted_once_a_minute(last: datetime | None, answer: bool) -> None:
    assert use_is_worth_noting(last, NOW) is answer


@pytest.mark.parametrize(
    ("name", "scopes", "life", "fields"),
    [
        ("nightly", list(Scope), DEFAULT_LIFE, set()),
        ("nightly", ["tasks:read"], LONGEST_LIFE, set()),
        (" ", ["tasks:read"], DEFAULT_LIFE, {"name"}),
        ("n" * 61, ["tasks:read"], DEFAULT_LIFE, {"name"}),
        ("n\x00", ["tasks:read"], DEFAULT_LIFE, {"name"}),
        ("nightly", [], DEFAULT_LIFE, {"scopes"}),
        ("nightly", ["tasks:read", "world:rule"], DEFAULT_LIFE, {"scopes"}),
        ("nightly", ["tasks:read"], timedelta(0), {"days"}),
        ("", [], LONGEST_LIFE + SECOND, {"name", "scopes", "days"}),
    ],
)
def test_every_fault_stands_at_its_field(name: str, scopes: list[str], life: timedelta, fields: set[str]) -> None:
    fault = token_fault(name, scopes, life)
    assert (set(fault.fields) if fault else set()) == fields
