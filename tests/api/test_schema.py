"""The OpenAPI document: served, without a warning, and held against the site by fuzzing (issue 3 part 9)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
import yaml
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from apps.accounts.services import issue_full_token
from apps.kernel import clock
from apps.quotas.models import Quota
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.support.world import World

EXPECTED = [not_a_server_error, response_schema_conformance, content_type_conformance]
BOUNDED = settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
UNFIT_FOR_WSGI = ("follow", "download", "format")
"""What answers with an asynchronous stream has tests of its own (test_logs.py)."""


@cache
def document() -> dict[str, Any]:
    out = io.StringIO()
    call_command("spectacular", "--fail-on-warn", "--validate", stdout=out)
    loaded: dict[str, Any] = yaml.safe_load(out.getvalue())
    return loaded


def calls() -> list[tuple[str, dict[str, Any]]]:
    paths = document()["paths"]
    return [(f"{method.upper()} {path}", call) for path, methods in paths.items() for method, call in methods.items()]


CALLS = [name for name, _call in calls()]


def test_the_document_is_served_to_everybody(world: World, caller: Caller) -> None:
    answer = caller(None).get("/api/v1/schema")
    assert (answer.status_code, answer.json()["openapi"][:2]) == (200, "3.")
    assert list(answer.json()["paths"]) == list(document()["paths"])


def test_every_call_is_described_with_its_name_and_its_problems() -> None:
    described = [call for _name, call in calls()]
    names = [call["operationId"] for call in described]
    assert len(names) == len(set(names)) >= 30
    assert all("application/problem+json" in call["responses"]["403"]["content"] for call in described)
    assert all({"token": []} in call["security"] for call in described)


def test_lines_are_described_in_each_form_they_are_given_in() -> None:
    logs = next(call for _name, call in calls() if call["operationId"] == "read_logs")
    assert set(logs["responses"]["200"]["content"]) == {"application/json", "application/x-ndjson", "text/plain"}


@pytest.fixture
def own_connection() -> Iterator[None]:
    """Requests come to the site itself, not through Django's client, so the test's connection must outlive them."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@cache
def described() -> Any:
    schema = schemathesis.openapi.from_dict(document())
    schema.app = get_wsgi_application()
    return schema


def answer_to(case: Any, known: dict[str, Any], token: str) -> Any:
    """What the site answers to one case about things that exist; nothing it does is kept."""
    case.path_parameters = {name: known[name] for name in case.path_parameters or {}}
    case.query = {name: value for name, value in (case.query or {}).items() if name not in UNFIT_FOR_WSGI}
    case.headers["Authorization"] = f"Bearer {token}"
    with transaction.atomic():
        answer = case.call()
        transaction.set_rollback(True)
    return answer


@pytest.mark.usefixtures("own_connection")
@pytest.mark.parametrize("call", CALLS)
def test_whatever_is_sent_is_answered_as_described(submitted: Callable[..., Task], plant: World, call: str) -> None:
    method, path = call.split()
    thing = Quota.objects.earliest("pk").pk if "quotas" in path else submitted().pk
    known = {
        "id": str(thing),
        "pk": str(thing),
        "slug": "map-team",
        "name": "beijing",
        "number": 1,
        "username": "victor",
    }
    token = issue_full_token(plant.ada, name="fuzz", now=clock.now())
    for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:

        @given(case=described()[path][method].as_strategy(generation_mode=mode))
        @BOUNDED
        def send(case: Any) -> None:
            case.validate_response(answer_to(case, known, token), checks=EXPECTED)

        send()
