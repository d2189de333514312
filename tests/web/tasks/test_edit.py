"""Changing a task by the form: the difference first, two writers, what a kind forbids, copies and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages

from apps.tasks.domain import spec as specs
from apps.tasks.domain.formdata import write_form
from apps.tasks.domain.immutability import Difference
from apps.tasks.domain.wire import to_wire
from apps.tasks.models import Task
from tests.support.world import World
from tests.web.conftest import SignedIn
from tests.web.tasks.fields import DEPLOYMENT, JOB

IMAGE = "containers-0-image"
CHANGED = Difference("containers.0.image", "busybox:1.36", "busybox:2")


def _made(plant: World, signed_in: SignedIn, fields: dict[str, str]) -> Task:
    signed_in(plant.alice).post("/tasks/new/", fields)
    return Task.objects.get()


@pytest.fixture
def web(plant: World, signed_in: SignedIn) -> Task:
    return _made(plant, signed_in, DEPLOYMENT)


@pytest.fixture
def job(plant: World, signed_in: SignedIn) -> Task:
    return _made(plant, signed_in, JOB)


def _fields(task: Task) -> dict[str, str]:
    return write_form(to_wire(specs.from_json(task.spec)))


def _edit(plant: World, signed_in: SignedIn, task: Task, **sent: str) -> Any:
    fields = _fields(task) | {"version": str(task.version)} | sent
    return signed_in(plant.alice).post(f"/tasks/{task.pk}/edit/", fields)


def test_the_difference_and_what_restarts_are_shown_before_anything_is_stored(
    web: Task, plant: World, signed_in: SignedIn
) -> None:
    answer = _edit(plant, signed_in, web, **{IMAGE: "busybox:2"})
    before = web.version
    web.refresh_from_db()
    shown = {name: answer.context[name] for name in ("diff", "replaces", "stale")}
    assert shown == {"diff": (CHANGED,), "replaces": True, "stale": False}
    assert (answer.status_code, web.version, web.revision) == (200, before, 1)
    assert "Every running instance (0 now) is replaced by a new one" in answer.content.decode()


def test_another_number_of_instances_restarts_none(web: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, web, nodes="3")
    assert (answer.context["diff"], answer.context["replaces"]) == ((Difference("resources.nodes", "2", "3"),), False)
    assert "No running instance is restarted." in answer.content.decode()


def test_a_confirmed_change_is_the_second_revision(web: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, web, **{IMAGE: "busybox:2", "do": "confirm"})
    web.refresh_from_db()
    assert (answer.status_code, answer["Location"]) == (302, f"/tasks/{web.pk}/")
    assert (web.revision, list(web.revisions.order_by("number").values_list("number", flat=True))) == (2, [1, 2])
    assert _fields(web)[IMAGE] == "busybox:2"


def test_a_stale_edit_shows_both_versions_and_keeps_what_was_typed(
    web: Task, plant: World, signed_in: SignedIn
) -> None:
    seen = str(web.version)
    _edit(plant, signed_in, web, **{IMAGE: "busybox:3", "do": "confirm"})
    typed = {IMAGE: "busybox:2", "version": seen, "do": "confirm"}
    answer = _edit(plant, signed_in, web, **typed)
    web.refresh_from_db()
    assert (answer.status_code, answer.context["stale"], _fields(web)[IMAGE]) == (412, True, "busybox:3")
    assert answer.context["diff"] == (Difference("containers.0.image", "busybox:3", "busybox:2"),)
    assert answer.context["values"][IMAGE] == "busybox:2"
    assert f'name="version" value="{web.version}"' in answer.content.decode()


def test_back_to_the_form_keeps_what_was_typed_even_what_is_wrong(web: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, web, **{IMAGE: "busybox:2", "nodes": "many", "do": "back"})
    web.refresh_from_db()
    assert (answer.status_code, web.revision) == (200, 1)
    assert answer.context["form"].values == _fields(web) | {IMAGE: "busybox:2", "nodes": "many"}


def test_an_unchanged_form_changes_nothing_and_says_so(web: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, web)
    assert [str(message) for message in get_messages(answer.wsgi_request)] == ["Nothing was changed."]
    assert list(web.revisions.values_list("number", flat=True)) == [1]


def test_a_job_runs_as_it_was_submitted_and_the_way_on_is_a_clone(job: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, job, **{IMAGE: "busybox:2", "display_name": "train-b", "do": "confirm"})
    job.refresh_from_db()
    why = "A Job runs as it was submitted. Use “clone with changes”."
    assert (answer.status_code, answer.context["form"].errors) == (409, {IMAGE: [why]})
    assert f'href="/tasks/new/?clone={job.pk}"' in answer.content.decode()
    assert (job.display_name, _fields(job)[IMAGE]) == ("train-a", "busybox:1.36")
    assert answer.context["form"].values["display_name"] == "train-b"


def test_a_job_takes_another_name(job: Task, plant: World, signed_in: SignedIn) -> None:
    answer = _edit(plant, signed_in, job, display_name="train-b")
    job.refresh_from_db()
    assert (answer.status_code, job.display_name, job.revision) == (302, "train-b", 1)


def test_the_form_of_a_copy_carries_every_field(web: Task, plant: World, signed_in: SignedIn) -> None:
    client = signed_in(plant.alice)
    asked = client.get(f"/tasks/{web.pk}/clone/")
    answer = client.get(asked["Location"])
    assert answer.context["form"].values == _fields(web) | {"display_name": "web-a-copy"}
    assert client.post("/tasks/new/", answer.context["form"].values).status_code == 302
    copy = Task.objects.get(display_name="web-a-copy")
    assert _fields(copy) == _fields(web) | {"display_name": "web-a-copy"}


@pytest.mark.parametrize(
    ("revision", "there", "then"), [("1", "", (3, "busybox:1.36")), ("9", "revisions/", (2, "busybox:2"))]
)
def test_a_rollback_makes_an_earlier_revision_the_newest_and_a_wrong_one_changes_nothing(
    web: Task, plant: World, signed_in: SignedIn, revision: str, there: str, then: tuple[int, str]
) -> None:
    _edit(plant, signed_in, web, **{IMAGE: "busybox:2", "do": "confirm"})
    web.refresh_from_db()
    sent = {"revision": revision, "version": str(web.version)}
    answer = signed_in(plant.alice).post(f"/tasks/{web.pk}/rollback/", sent)
    web.refresh_from_db()
    said = [str(message) for message in get_messages(answer.wsgi_request)]
    assert (answer["Location"], (web.revision, _fields(web)[IMAGE])) == (f"/tasks/{web.pk}/{there}", then)
    assert said == ["Rolling back to revision 1." if not there else "there is no revision 9"]
