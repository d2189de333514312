"""Every verb by POST: who may, when it may not be, and what a reader is told instead (F31 for sessions and CSRF)."""

from __future__ import annotations

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from apps.tasks.domain.spec import KindName
from apps.tasks.models import Task
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec
from tests.web.conftest import SignedIn

POST_ONLY = ("pause", "resume", "rollback")


@pytest.fixture
def task(plant: World) -> Task:
    return submit_task(a_spec(), by=plant.alice, now=plant.now)


def _said(client: Client, address: str) -> list[str]:
    return [str(message) for message in client.get(address).context["messages"]]


@pytest.mark.parametrize(
    ("verb", "there", "then"),
    [
        ("pause", "", ("paused", "train-a", False)),
        ("stop", "", ("stopped", "train-a", False)),
        ("rename", "", ("queued", "other", False)),
        ("delete", "list", ("stopped", "train-a", True)),
    ],
)
def test_a_verb_is_done_and_said(
    task: Task, plant: World, signed_in: SignedIn, verb: str, there: str, then: tuple[str, str, bool]
) -> None:
    answer = signed_in(plant.alice).post(f"/tasks/{task.pk}/{verb}/", {"display_name": "other"})
    task.refresh_from_db()
    assert (answer.status_code, answer["Location"]) == (302, "/tasks/" if there else f"/tasks/{task.pk}/")
    assert (task.state, task.display_name, task.deleted_at is not None) == then
    assert len(list(get_messages(answer.wsgi_request))) == 1


def test_what_was_paused_comes_back_and_what_was_stopped_begins_anew(
    task: Task, plant: World, signed_in: SignedIn
) -> None:
    client = signed_in(plant.alice)
    for verb in ("pause", "resume", "stop", "restart"):
        client.post(f"/tasks/{task.pk}/{verb}/")
    task.refresh_from_db()
    assert (task.state, task.attempt) == ("queued", 2)


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_verb_in_the_wrong_state_changes_nothing_and_says_why(
    task: Task, plant: World, signed_in: SignedIn, verb: str
) -> None:
    client = signed_in(plant.alice)
    client.post(f"/tasks/{task.pk}/stop/")
    client.get(f"/tasks/{task.pk}/")
    plain = client.post(f"/tasks/{task.pk}/{verb}/")
    said = _said(client, f"/tasks/{task.pk}/")
    by_htmx = client.post(f"/tasks/{task.pk}/{verb}/", headers={"HX-Request": "true"})
    task.refresh_from_db()
    assert (plain.status_code, len(said), task.state) == (302, 1, "stopped")
    assert (by_htmx.status_code, by_htmx.content, bool(by_htmx["X-Problem"])) == (409, b"", True)


@pytest.mark.parametrize("nodes", ["-1", "", "x", "9" * 30, "1e3", "\u0663", "1000000"])
def test_no_number_of_instances_is_refused_beside_what_was_typed(plant: World, signed_in: SignedIn, nodes: str) -> None:
    task = submit_task(a_spec(kind=KindName.DEPLOYMENT), by=plant.alice, now=plant.now)
    answer = signed_in(plant.alice).post(f"/tasks/{task.pk}/scale/", {"nodes": nodes})
    assert (answer.status_code, answer.context["nodes"], bool(answer.context["notice"])) == (409, nodes, True)


def test_a_deployment_is_scaled(plant: World, signed_in: SignedIn) -> None:
    task = submit_task(a_spec(kind=KindName.DEPLOYMENT), by=plant.alice, now=plant.now)
    assert signed_in(plant.alice).post(f"/tasks/{task.pk}/scale/", {"nodes": "3"}).status_code == 302
    task.refresh_from_db()
    assert (task.nodes, task.cards) == (3, 3)


def test_a_reader_gets_a_page_that_says_why_and_a_stranger_gets_nothing(
    task: Task, plant: World, signed_in: SignedIn
) -> None:
    address = f"/tasks/{task.pk}/stop/"
    viewer, stranger = signed_in(plant.victor).post(address), signed_in(plant.charlie).post(address)
    assert (viewer.status_code, "Your role here lets you read." in viewer.content.decode()) == (403, True)
    assert (stranger.status_code, task.display_name in stranger.content.decode()) == (404, False)


@pytest.mark.parametrize("verb", POST_ONLY)
def test_what_only_changes_is_not_got(task: Task, plant: World, signed_in: SignedIn, verb: str) -> None:
    assert signed_in(plant.alice).get(f"/tasks/{task.pk}/{verb}/").status_code == 405


@pytest.mark.parametrize("verb", ["restart", "stop", "delete", "scale", "rename"])
def test_asking_first_changes_nothing(task: Task, plant: World, signed_in: SignedIn, verb: str) -> None:
    answer = signed_in(plant.alice).get(f"/tasks/{task.pk}/{verb}/")
    task.refresh_from_db()
    assert (answer.status_code, task.state, task.version) == (200, "queued", 1)


def test_a_form_without_its_csrf_token_changes_nothing_and_gets_a_readable_page(
    task: Task, plant: World, signed_in: SignedIn
) -> None:
    """F31."""
    client = signed_in(plant.alice, enforce_csrf_checks=True)
    plain = client.post(f"/tasks/{task.pk}/stop/")
    by_htmx = client.post(f"/tasks/{task.pk}/stop/", headers={"HX-Request": "true"})
    task.refresh_from_db()
    assert (plain.status_code, "The form is out of date" in plain.content.decode()) == (403, True)
    assert (by_htmx.status_code, by_htmx.content, task.state) == (403, b"", "queued")


@pytest.mark.parametrize(
    ("came_from", "way_back"),
    [
        ("http://testserver/tasks/?q=a&page=2#x", "/tasks/?q=a&amp;page=2"),
        ("http://elsewhere.example/tasks/", "/"),
        ("http://testserver//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_the_way_back_from_an_outdated_form_is_the_page_it_stood_on(
    task: Task, plant: World, signed_in: SignedIn, came_from: str, way_back: str
) -> None:
    client = signed_in(plant.alice, enforce_csrf_checks=True)
    answer = client.post(f"/tasks/{task.pk}/pause/", headers={"Referer": came_from})
    assert f'<a class="btn btn-primary" href="{way_back}">Reload the page</a>' in answer.content.decode()


@pytest.mark.parametrize("came_from", ["http://testserver/tasks/?q=a", ""])
def test_who_signs_in_after_a_form_comes_back_to_its_page(task: Task, signed_in: SignedIn, came_from: str) -> None:
    """F31: a verb's own address takes POST alone, so the way back from the sign-in is never there."""
    answer = signed_in().post(f"/tasks/{task.pk}/pause/", headers={"Referer": came_from})
    way_back = "/tasks/%3Fq%3Da" if came_from else "/"
    assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next={way_back}")


@pytest.mark.parametrize(
    ("method", "path"), [("get", ""), ("post", "pause/"), ("get", "stop/"), ("post", "stop/"), ("get", "events/")]
)
def test_an_ended_session_moves_the_whole_page_to_the_sign_in(
    task: Task, signed_in: SignedIn, method: str, path: str
) -> None:
    """F31: no login page is swapped into a fragment, and the way back is the page, not the fragment."""
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver/tasks/{task.pk}/?a=1"}
    answer = getattr(signed_in(), method)(f"/tasks/{task.pk}/{path}", headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["HX-Redirect"] == f"/accounts/login/?next=/tasks/{task.pk}/%3Fa%3D1"
