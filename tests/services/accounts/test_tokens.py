"""Issuing, finding, using and revoking tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.http import Http404

from apps.accounts import access, selectors, services
from apps.accounts.domain.tokens import Scope
from apps.accounts.models import ApiToken
from apps.audit.models import AuditEvent
from apps.kernel.errors import Refused
from tests.support.world import World


def issued(world: World, **changes: object) -> tuple[ApiToken, str]:
    values = {"name": "nightly", "scopes": ["tasks:read"], "by": world.alice, "now": world.now} | changes
    return services.issue_token(world.alice, **values)  # type: ignore[arg-type]  # a builder passes what it is given


def test_only_the_digest_and_the_beginning_are_kept(world: World) -> None:
    token, text = issued(world)
    row = ApiToken.objects.values().get()
    assert text.startswith("ptk_")
    assert text not in str(row)
    assert (row["prefix"], row["expires_at"] - row["created_at"]) == (text[:12], timedelta(days=90))
    assert selectors.usable_token(text, now=world.now) == token


def test_issuing_and_revoking_are_audited_once_without_the_text(world: World) -> None:
    token, text = issued(world)
    for _ in range(2):
        services.revoke_token(token, by=world.alice, now=world.now)
    events = AuditEvent.objects.order_by("id")
    assert [(event.action, event.actor_name) for event in events] == [
        ("token.issued", "alice"),
        ("token.revoked", "alice"),
    ]
    assert text not in str(list(events.values()))


def test_a_revoked_or_expired_token_is_found_no_more(world: World, now: datetime) -> None:
    token, text = issued(world)
    assert selectors.usable_token(text, now=now + timedelta(days=90)) is None
    services.revoke_token(token, by=world.alice, now=now)
    assert (token.revoked_at, selectors.usable_token(text, now=now)) == (now, None)


def test_a_full_token_has_every_scope_for_a_year(world: World, now: datetime) -> None:
    services.issue_full_token(world.ada, name="demo", now=now)
    token = ApiToken.objects.get()
    assert (set(token.scopes), token.expires_at) == ({scope.value for scope in Scope}, now + timedelta(days=365))


def test_no_token_is_made_of_faults(world: World) -> None:
    with pytest.raises(Refused):
        issued(world, scopes=["everything"])
    assert not ApiToken.objects.exists()


def test_a_token_is_its_owners_alone(world: World) -> None:
    token, _text = issued(world)
    assert access.token_for(world.alice, token.pk) == token
    for person in (world.olga, world.ada):
        with pytest.raises(Http404):
            access.token_for(person, token.pk)


def test_use_is_noted_without_going_back(world: World, now: datetime) -> None:
    token, _text = issued(world)
    for later in (timedelta(0), timedelta(seconds=30), timedelta(seconds=90)):
        token.refresh_from_db()
        services.note_use(token, now=now + later)
    token.refresh_from_db()
    assert token.last_used_at == now + timedelta(seconds=90)
