"""Who calls: tokens with scopes and expiry, or the browser's session with CSRF."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from rest_framework.settings import api_settings
from rest_framework.test import APIClient

from apps.accounts.models import ApiToken
from apps.kernel import clock
from tests.api.conftest import Caller
from tests.api.wire import a_job
from tests.support.world import PASSWORD, World


def test_nobody_gets_nothing_and_is_told_how_to_ask(world: World, caller: Caller) -> None:
    answer = caller(None).get("/api/v1/tasks")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer["WWW-Authenticate"] == 'Bearer realm="api"'


def test_a_token_does_what_its_scopes_say_and_no_more(plant: World, caller: Caller) -> None:
    client = caller(plant.alice, "tasks:read")
    assert client.get("/api/v1/tasks").status_code == 200
    answer = client.post("/api/v1/tasks", a_job(), format="json")
    assert (answer.status_code, answer.json()["code"], answer.json()["scope"]) == (403, "forbidden", "tasks:write")
    assert "tasks:write" in answer.json()["detail"]


@pytest.mark.parametrize("change", ["expired", "revoked", "left"])
def test_a_token_that_may_no_longer_be_used_is_none(world: World, caller: Caller, change: str) -> None:
    client = caller(world.alice)
    token, now = ApiToken.objects.get(), clock.now()
    if change == "expired":
        ApiToken.objects.update(created_at=now - timedelta(days=2), expires_at=now - timedelta(seconds=1))
    elif change == "revoked":
        ApiToken.objects.update(revoked_at=now)
    else:
        type(token.owner).objects.filter(pk=token.owner_id).update(is_active=False)
    assert client.get("/api/v1/tasks").status_code == 401


def test_use_is_noted_at_most_once_a_minute(world: World, caller: Caller) -> None:
    client = caller(world.alice)
    client.get("/api/v1/me")
    first = ApiToken.objects.get().last_used_at
    client.get("/api/v1/me")
    assert first is not None
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(seconds=61))
    client.get("/api/v1/me")
    assert ApiToken.objects.filter(last_used_at__gte=first).exists()


def signed_in(world: World) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(world.alice, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_the_browsers_session_reads(plant: World) -> None:
    assert signed_in(plant).get("/api/v1/tasks").status_code == 200


def test_a_session_changes_nothing_without_its_csrf_token(plant: World) -> None:
    client = signed_in(plant)
    answer = client.post("/api/v1/tasks", a_job(), format="json")
    assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
    client.get("/accounts/password/change/")
    token = client.cookies[settings.CSRF_COOKIE_NAME].value
    assert client.post("/api/v1/tasks", a_job(), format="json", HTTP_X_CSRFTOKEN=token).status_code == 201


def test_a_token_is_heard_before_the_session(plant: World, caller: Caller) -> None:
    client = caller(plant.victor)
    client.force_login(plant.alice, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/api/v1/me").json()["user"] == "victor"


def test_a_caller_above_the_bound_is_told_when_to_come_again(
    world: World, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(api_settings.DEFAULT_THROTTLE_RATES, "caller", "2/hour")
    client = caller(world.alice)
    answers = [client.get("/api/v1/me") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert (answers[2].json()["code"], 0 < int(answers[2]["Retry-After"]) <= 3600) == ("throttled", True)
    assert caller(world.olga).get("/api/v1/me").status_code == 200


def test_a_password_is_no_token(world: World) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {PASSWORD}")
    assert client.get("/api/v1/me").status_code == 401
