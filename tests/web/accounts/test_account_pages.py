"""A person's own pages: API tokens, whose text is seen once, and preferences, which every page then follows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from apps.accounts.models import ApiToken
from apps.accounts.services import issue_token
from apps.kernel import clock
from tests.support.world import World
from tests.web.conftest import SignedIn

WANTED = {"name": "nightly", "scopes": ["tasks:read", "logs:read"], "days": "7"}


def _may_read(text: str) -> int:
    return int(Client().get("/api/v1/tasks", headers={"Authorization": f"Bearer {text}"}).status_code)


def test_a_token_works_and_its_text_is_shown_once(world: World, signed_in: SignedIn) -> None:
    client = signed_in(world.alice)
    answer = client.post("/account/tokens/new/", WANTED)
    text, token = answer.context["fresh"], ApiToken.objects.get()
    assert (token.owner, token.name, token.scopes) == (world.alice, "nightly", ["logs:read", "tasks:read"])
    assert token.expires_at - token.created_at == timedelta(days=7)
    assert (text in answer.content.decode(), _may_read(text)) == (True, 200)
    again = client.get("/account/tokens/").content.decode()
    assert (text in again, token.prefix in again) == (False, True)


def test_the_address_of_a_new_token_shows_no_token_when_it_is_opened_again(world: World, signed_in: SignedIn) -> None:
    client = signed_in(world.alice)
    client.post("/account/tokens/new/", WANTED)
    answer = client.get("/account/tokens/new/", follow=True)
    assert (answer.redirect_chain, "fresh" in answer.context) == ([("/account/tokens/", 302)], False)


def test_a_revoked_token_works_no_more(world: World, signed_in: SignedIn) -> None:
    client = signed_in(world.alice)
    text = client.post("/account/tokens/new/", WANTED).context["fresh"]
    answer = client.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/", follow=True)
    assert (answer.redirect_chain, _may_read(text)) == ([("/account/tokens/", 302)], 401)
    assert [str(said) for said in answer.context["messages"]] == ["The token “nightly” works no more."]
    assert [works for _token, works in answer.context["tokens"]] == [False]
    assert ">revoked</span>" in answer.content.decode()


def test_an_expired_token_is_told_from_one_that_works(world: World, signed_in: SignedIn) -> None:
    long_ago = clock.now() - timedelta(days=8)
    _token, text = issue_token(
        world.alice, name="old", scopes=["tasks:read"], by=world.alice, now=long_ago, life=timedelta(days=7)
    )
    answer = signed_in(world.alice).get("/account/tokens/")
    page = answer.content.decode()
    assert ([works for _token, works in answer.context["tokens"]], _may_read(text)) == ([False], 401)
    assert (">expired</span>" in page, "/revoke/" in page) == (True, False)


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"scopes": []},
        {"scopes": ["tasks:everything"]},
        {"days": "0"},
        {"days": "366"},
        {"days": "\u0663"},
    ],
)
def test_a_token_that_may_not_be_is_refused_and_what_was_given_stays(
    world: World, signed_in: SignedIn, change: dict[str, object]
) -> None:
    sent = WANTED | change
    answer = signed_in(world.alice).post("/account/tokens/new/", sent)
    assert (answer.status_code, ApiToken.objects.count(), bool(answer.context["notice"])) == (422, 0, True)
    assert answer.context["given"] == {"name": sent["name"], "scopes": sent["scopes"]}


def test_nobody_sees_or_revokes_the_token_of_another(world: World, signed_in: SignedIn) -> None:
    signed_in(world.alice).post("/account/tokens/new/", WANTED)
    charlie, token = signed_in(world.charlie), ApiToken.objects.get()
    refused = charlie.post(f"/account/tokens/{token.pk}/revoke/").status_code
    token.refresh_from_db()
    assert (refused, charlie.get("/account/tokens/").context["tokens"], token.revoked_at) == (404, [], None)


def test_preferences_are_kept_and_every_page_follows_them(world: World, signed_in: SignedIn) -> None:
    client = signed_in(world.alice)
    client.cookies.load({"theme": "light", "django_language": "en"})
    answer = client.post(
        "/account/preferences/", {"language": "zh-hans", "theme": "dark", "time_zone": "Asia/Shanghai"}
    )
    world.alice.refresh_from_db()
    kept = (world.alice.language, world.alice.theme, world.alice.time_zone)
    assert (answer.status_code, kept) == (302, ("zh-hans", "dark", "Asia/Shanghai"))
    assert [answer.cookies[name]["max-age"] for name in ("theme", "django_language")] == [0, 0]
    elsewhere = signed_in(world.alice)
    elsewhere.post("/account/tokens/new/", WANTED)
    page = elsewhere.get("/account/tokens/").content.decode()
    assert '<html lang="zh-hans" data-theme="dark" data-bs-theme="dark">' in page
    assert 'CST" data-relative' in page


def test_what_is_no_language_theme_or_zone_means_the_default(world: World, signed_in: SignedIn) -> None:
    client = signed_in(world.alice)
    client.post("/account/preferences/", {"language": "xx", "theme": "<b>", "time_zone": "../../etc/passwd"})
    world.alice.refresh_from_db()
    assert (world.alice.language, world.alice.theme, world.alice.time_zone) == ("", "auto", "")
    assert 'data-theme="auto">' in client.get("/account/preferences/").content.decode()
