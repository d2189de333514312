"""Who is in a project: its owners add, change and remove people, and one owner always stays (domain.md §13)."""

from __future__ import annotations

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.organisations.models import Membership
from tests.support.world import World
from tests.web.conftest import SignedIn

PAGE = "/projects/map-team/"
EVERYBODY = {"olga": "owner", "alice": "member", "victor": "viewer"}
CHANGED = ["The members were changed."]


def _roles(world: World) -> dict[str, str]:
    rows = Membership.objects.filter(project=world.project)
    return dict(rows.values_list("user__username", "role"))


def _said(client: Client, path: str, **sent: str) -> list[str]:
    """What the project's page says after this was sent."""
    answer = client.post(f"{PAGE}members/{path}", sent, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    return [str(message) for message in answer.context["messages"]]


@pytest.mark.parametrize(("name", "role"), [("charlie", "viewer"), (" charlie ", "owner"), ("alice", "owner")])
def test_an_owner_adds_a_person_or_changes_a_role(world: World, signed_in: SignedIn, name: str, role: str) -> None:
    said = _said(signed_in(world.olga), "", user=name, role=role)
    assert (said, _roles(world)) == (CHANGED, EVERYBODY | {name.strip(): role})


def test_who_was_added_sees_the_project_and_who_was_removed_does_not(world: World, signed_in: SignedIn) -> None:
    olga, charlie = signed_in(world.olga), signed_in(world.charlie)
    seen = [charlie.get(PAGE).status_code]
    _said(olga, "", user="charlie", role="viewer")
    seen.append(charlie.get(PAGE).status_code)
    assert _said(olga, f"{world.charlie.pk}/remove/") == CHANGED
    seen.append(charlie.get(PAGE).status_code)
    assert (seen, _roles(world)) == ([404, 200, 404], EVERYBODY)


@pytest.mark.parametrize("sent", [{"user": "nobody", "role": "member"}, {"user": "a\x00b", "role": "member"}])
def test_nobody_of_that_name_is_said(world: World, signed_in: SignedIn, sent: dict[str, str]) -> None:
    said = _said(signed_in(world.olga), "", **sent)
    assert (said, _roles(world)) == (["There is no person with this name."], EVERYBODY)


def test_no_such_role_is_said(world: World, signed_in: SignedIn) -> None:
    said = _said(signed_in(world.olga), "", user="charlie", role="king")
    assert (said, _roles(world)) == (["No such role."], EVERYBODY)


def test_the_last_owner_stays_one(world: World, signed_in: SignedIn) -> None:
    olga = signed_in(world.olga)
    kept = ["A project needs at least one owner: name another one first."]
    said = [_said(olga, "", user="olga", role="member"), _said(olga, f"{world.olga.pk}/remove/")]
    assert (said, _roles(world)) == ([kept, kept], EVERYBODY)
    _said(olga, "", user="alice", role="owner")
    assert _said(olga, "", user="olga", role="member") == CHANGED
    assert _roles(world) == EVERYBODY | {"alice": "owner", "olga": "member"}


@pytest.mark.parametrize(
    ("who", "status"), [("charlie", 404), ("victor", 403), ("alice", 403), ("otto", 403), ("ada", 302)]
)
def test_only_owners_and_administrators_change_members(
    world: World, signed_in: SignedIn, who: str, status: int
) -> None:
    client = signed_in(getattr(world, who))
    codes = [
        client.post(f"{PAGE}members/", {"user": "charlie", "role": "member"}).status_code,
        client.post(f"{PAGE}members/{world.victor.pk}/remove/").status_code,
    ]
    done = {"olga": "owner", "alice": "member", "charlie": "member"}
    assert (codes, _roles(world)) == ([status, status], done if status == 302 else EVERYBODY)


def test_a_stranger_learns_nothing_and_who_is_no_member_cannot_be_removed(world: World, signed_in: SignedIn) -> None:
    answer = signed_in(world.charlie).get(PAGE)
    assert (answer.status_code, "map-team" in answer.content.decode()) == (404, False)
    assert signed_in(world.olga).post(f"{PAGE}members/{world.charlie.pk}/remove/").status_code == 404


def test_each_change_is_in_the_audit_log(world: World, signed_in: SignedIn) -> None:
    olga = signed_in(world.olga)
    _said(olga, "", user="charlie", role="viewer")
    _said(olga, f"{world.charlie.pk}/remove/")
    rows = AuditEvent.objects.order_by("pk").values_list("action", "source")
    assert list(rows) == [("project.member_set", "web"), ("project.member_removed", "web")]
