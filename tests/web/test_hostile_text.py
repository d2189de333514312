"""Hostile text in addresses and small forms: an answer below 500 every time, and no mark-up that a person wrote."""

from __future__ import annotations

import pytest

from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec
from tests.web.conftest import SignedIn
from tests.web.tasks.fields import HOSTILE

QUERIES = {
    "/tasks/": ("q", "state", "kind", "priority", "mark", "cluster", "owner", "project", "order", "page", "scope"),
    "/": ("scope", "q", "owner"),
    "/quotas/": ("scope", "page"),
    "/projects/": ("q", "page"),
    "/resources/": ("mark",),
    "/clusters/": ("page",),
    "/tasks/new/": ("start", "clone", "scope"),
}


@pytest.mark.parametrize("text", [*HOSTILE, "-1", "0", "9" * 40, "1.5", "\u0663"])
@pytest.mark.parametrize("path", sorted(QUERIES))
def test_a_list_takes_any_text_in_its_address(plant: World, signed_in: SignedIn, path: str, text: str) -> None:
    client = signed_in(plant.alice)
    for name in QUERIES[path]:
        answer = client.get(path, {name: text})
        page = answer.content.decode()
        assert (name, answer.status_code in {200, 404}, "<script>alert" in page) == (name, True, False)


@pytest.mark.parametrize("text", [*HOSTILE, "-1", "9" * 40, "\u0663"])
def test_a_tab_takes_any_text_in_its_address(plant: World, signed_in: SignedIn, text: str) -> None:
    task, client = submit_task(a_spec(), by=plant.alice, now=plant.now), signed_in(plant.alice)
    given = dict.fromkeys(("attempt", "instance", "container", "of", "who", "page", "a", "b", "old", "new", "q"), text)
    for tab in ("", "instances/", "logs/", "events/", "revisions/", "yaml/"):
        answer = client.get(f"/tasks/{task.pk}/{tab}", given)
        assert (tab, answer.status_code, "<script>alert" in answer.content.decode()) == (tab, 200, False)


@pytest.mark.parametrize("text", HOSTILE)
def test_small_forms_take_any_text(plant: World, signed_in: SignedIn, text: str) -> None:
    task, client = submit_task(a_spec(), by=plant.alice, now=plant.now), signed_in(plant.ada)
    forms = {
        f"/tasks/{task.pk}/rename/": {"display_name": text},
        f"/tasks/{task.pk}/rollback/": {"revision": text, "version": text},
        "/account/tokens/new/": {"name": text, "days": text, "scopes": text},
        "/account/preferences/": {"language": text, "theme": text, "time_zone": text},
        "/projects/map-team/members/": {"user": text, "role": text},
    }
    for path, given in forms.items():
        answer = client.post(path, given)
        assert (path, answer.status_code in {302, 409, 422}) == (path, True)
        assert "<script>alert" not in answer.content.decode()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_token_takes_any_name(plant: World, signed_in: SignedIn, text: str) -> None:
    answer = signed_in(plant.alice).post("/account/tokens/new/", {"name": text, "days": "30", "scopes": "tasks:read"})
    assert answer.status_code in {200, 422}
    assert "<script>alert" not in answer.content.decode()
