"""Refusals as problems of RFC 9457, whatever they come from."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404
from rest_framework.exceptions import MethodNotAllowed, ParseError, Throttled

from apps.kernel.errors import Code, Refusal, refuse
from apps.rest.problems import STATUS, exception_handler, problem
from tests.api.conftest import Caller
from tests.support.world import World


def test_every_code_of_ours_has_its_status() -> None:
    assert set(STATUS) == set(Code)


@pytest.mark.parametrize(
    ("raised", "status", "code"),
    [
        (refuse(Code.STALE_VERSION, "late"), 412, "stale_version"),
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "forbidden"),
        (RequestDataTooBig(), 413, "too_large"),
        (SuspiciousOperation(), 422, "invalid"),
        (OperationalError("canceling statement due to lock timeout"), 503, "unavailable"),
        (ParseError(), 422, "invalid"),
        (MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (Throttled(wait=3.2), 429, "throttled"),
        (RuntimeError("secret internals"), 500, "internal"),
    ],
)
def test_each_exception_becomes_its_problem(raised: Exception, status: int, code: str) -> None:
    answer = exception_handler(raised, {})
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert f'"code": "{code}"' in answer.content.decode()
    assert "secret" not in answer.content.decode()
    assert "canceling" not in answer.content.decode()


def test_waiting_helps_and_the_header_says_how_long() -> None:
    assert exception_handler(Throttled(wait=3.2), {})["Retry-After"] == "4"
    assert exception_handler(OperationalError(), {})["Retry-After"] == "2"


def test_numbers_stand_beside_the_names_and_never_in_their_place() -> None:
    answer = problem(Refusal(Code.QUOTA_EXCEEDED, "Too much.", {"x": ["y"]}, {"limit": 4, "status": 200}))
    assert answer.content.decode() == (
        '{"limit": 4, "type": "urn:platform:problem:quota_exceeded", "title": "Conflict", "status": 409, '
        '"detail": "Too much.", "code": "quota_exceeded", "fields": {"x": ["y"]}}'
    )


@pytest.mark.parametrize("address", ["/api/v1/nothing", "/api/v1/tasks/not-a-uuid", "/api/v1/tasks/"])
def test_an_unknown_address_is_a_problem_too(world: World, caller: Caller, address: str) -> None:
    answer = caller(world.alice).get(address)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_a_wrong_method_is_a_problem(world: World, caller: Caller) -> None:
    answer = caller(world.alice).put("/api/v1/tasks", {}, format="json")
    assert (answer.status_code, answer.json()["code"], answer["Allow"]) == (
        405,
        "method_not_allowed",
        "GET, POST, HEAD, OPTIONS",
    )
