"""What a survey stands for, and how long credentials last by what they say of themselves."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.domain.certificates import LARGEST, certificates, client_fault, expiry
from apps.clusters.domain.checklist import checklist
from apps.clusters.domain.checklist_rows import State
from apps.clusters.domain.rights import Right
from apps.clusters.domain.sign_in import token_expiry
from apps.clusters.domain.survey import CertificateSeen, Failure, Survey
from tests.support.certificates import a_certificate

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
SILENT, REFUSED = Failure("unreachable"), Failure("credentials_refused")


@pytest.mark.parametrize(
    ("survey", "answered", "fault"),
    [
        (Survey(version="v1.37.2", groups=frozenset()), True, None),
        (Survey(), False, None),
        (Survey(reached=SILENT, version=REFUSED), False, SILENT),
        (
            Survey(certificate=CertificateSeen(NOON, fault="certificate_expired"), version="v1"),
            False,
            Failure("certificate_expired"),
        ),
        (Survey(certificate=CertificateSeen(NOON), version=REFUSED), False, REFUSED),
        (Survey(version="v1", groups=REFUSED), False, REFUSED),
    ],
)
def test_the_first_thing_that_stands_between_is_the_fault(
    survey: Survey, answered: bool, fault: Failure | None
) -> None:
    assert (survey.answered, survey.fault) == (answered, fault)


def test_what_was_not_asked_gets_no_row_and_what_failed_gets_a_warning() -> None:
    asked = Survey(address="127.0.0.1:8001", version="v1.37.2", storage_classes=Failure("forbidden"))
    found = checklist(asked, marks=[], classes={}, now=NOON)
    assert [(row.name, row.state, row.token) for row in found] == [
        ("api", State.OK, "reached"),
        ("certificate", State.OK, "no_tls"),
        ("credentials", State.OK, "signed_in"),
        ("kubernetes", State.OK, "kubernetes"),
        ("storage", State.WARN, "forbidden"),
    ]


def test_a_right_is_told_as_its_verb_and_resource() -> None:
    assert str(Right("list", "apps", "deployments")) == "list deployments"


def a_token(claims: Any) -> str:
    body = claims if isinstance(claims, str) else base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
    return f"head.{body.rstrip('=')}.sign"


@pytest.mark.parametrize(
    ("token", "until"),
    [
        (a_token({"exp": NOON.timestamp()}), NOON),
        (a_token({}), None),
        (a_token({"exp": "soon"}), None),
        (a_token({"exp": 1e300}), None),
        (a_token([1]), None),
        (a_token("!"), None),
        ("opaque", None),
    ],
)
def test_a_token_tells_until_when_it_is_good(token: str, until: datetime | None) -> None:
    assert token_expiry(token) == until


@given(st.text())
def test_no_token_makes_reading_it_fail(text: str) -> None:
    assert token_expiry(f"a.{text}.b") is None or text


def test_a_certificate_tells_until_when_it_is_valid() -> None:
    until = NOON + timedelta(days=30)
    assert (expiry(a_certificate(until=until).certificate), expiry("none")) == (until, None)


def test_a_text_that_is_far_too_long_is_no_certificate() -> None:
    assert certificates("x" * (LARGEST + 1)) == ()


def test_a_key_that_only_looks_like_one_is_refused() -> None:
    pair = a_certificate()
    assert (
        client_fault(pair.certificate, "-----BEGIN PRIVATE KEY-----\nno\n-----END PRIVATE KEY-----", NOON)
        == "key_not_pem"
    )
