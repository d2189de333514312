"""Creating a task by the form: what is stored, what is refused and where, and that nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest

from apps.tasks.domain import spec as specs
from apps.tasks.domain.wire import to_wire
from apps.tasks.models import Task
from tests.support.world import World
from tests.web.conftest import SignedIn
from tests.web.tasks.fields import DEPLOYMENT, HOSTILE, JOB


def _stored() -> dict[str, Any]:
    return to_wire(specs.from_json(Task.objects.get().spec))


def test_a_job_is_stored_as_it_was_written(plant: World, signed_in: SignedIn) -> None:
    answer = signed_in(plant.alice).post("/tasks/new/", JOB)
    task = Task.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/tasks/{task.pk}/")
    assert (task.kind, task.display_name, task.owner, task.project, task.state, task.cards) == (
        "Job",
        "train-a",
        plant.alice,
        plant.project,
        "queued",
        1,
    )
    assert _stored()["containers"][0]["command"] == ["sh", "-c", "echo hello"]


def test_every_field_of_a_deployment_is_stored(plant: World, signed_in: SignedIn) -> None:
    assert signed_in(plant.alice).post("/tasks/new/", DEPLOYMENT).status_code == 302
    wire = _stored()
    main, side = wire["containers"]
    assert (main["args"], main["env"], main["ports"][0]["port"]) == (["--fast", "two words"], {"MODE": "<b>&"}, 8080)
    assert (side["name"], side["image"], side["cards"]) == ("side", "busybox:2", 0)
    assert (wire["shm"], wire["labels"], wire["resources"]["nodes"]) == ("1Gi", {"team": "map"}, 2)


def test_the_same_form_sent_twice_is_one_task(plant: World, signed_in: SignedIn) -> None:
    client, sent = signed_in(plant.alice), JOB | {"submission": "a" * 32}
    first, second = (client.post("/tasks/new/", sent)["Location"] for _ in range(2))
    assert (first, Task.objects.count()) == (second, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("display_name", "Über alles"),
        ("containers-0-image", ""),
        ("containers-0-command", "sh -c 'open"),
        ("nodes", "many"),
        ("shm", "a lot"),
        ("advanced", "{"),
        ("mark", "no-such-card"),
    ],
)
def test_a_fault_stands_at_its_field_and_in_the_summary_and_all_that_was_typed_stays(
    plant: World, signed_in: SignedIn, field: str, value: str
) -> None:
    answer = signed_in(plant.alice).post("/tasks/new/", DEPLOYMENT | {field: value})
    context = answer.context
    assert (answer.status_code, Task.objects.count()) == (422, 0)
    assert context["form"].values == DEPLOYMENT | {field: value}
    assert context["form"].errors[field]
    assert field in [name for name, _label, _message in context["faults"]]
    assert f'href="#{field}"' in answer.content.decode()


def test_too_little_quota_is_said_with_its_numbers_and_nothing_is_lost(plant: World, signed_in: SignedIn) -> None:
    sent = JOB | {"nodes": "3", "cards_per_node": "8"}
    answer = signed_in(plant.alice).post("/tasks/new/", sent)
    assert (answer.status_code, answer.context["form"].values, Task.objects.count()) == (422, sent, 0)
    (said,) = answer.context["form"].general
    assert ("24" in said, "16" in said, said in answer.content.decode()) == (True, True, True)


def test_a_viewer_of_the_project_and_a_stranger_submit_nothing_in_its_name(plant: World, signed_in: SignedIn) -> None:
    codes = [signed_in(person).post("/tasks/new/", JOB).status_code for person in (plant.victor, plant.charlie)]
    assert (codes, Task.objects.count()) == ([403, 404], 0)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("path", ["/tasks/new/", "/scheduling/preview/"])
def test_hostile_text_in_any_field_is_an_answer_and_is_escaped(
    plant: World, signed_in: SignedIn, path: str, text: str
) -> None:
    client = signed_in(plant.alice)
    for field in [*DEPLOYMENT, "advanced", "datasets-0-claim", "datasets-0-mount_path", "max_runtime"]:
        answer = client.post(path, DEPLOYMENT | {field: text})
        page = answer.content.decode()
        assert (field, answer.status_code < 500, "<script>alert(1)" in page) == (field, True, False)
        assert "&amp;lt;" not in page


def test_the_live_column_shows_the_split_of_every_container(plant: World, signed_in: SignedIn) -> None:
    answer = signed_in(plant.alice).post("/scheduling/preview/", DEPLOYMENT)
    assert answer.status_code == 200
    assert [container.name for container, _share in answer.context["split"]] == ["main", "side"]
    assert [share.cards for _container, share in answer.context["split"]] == [1, 0]
    assert (answer.context["nodes"], Task.objects.count()) == (2, 0)


def test_the_live_column_says_what_is_not_right_yet(plant: World, signed_in: SignedIn) -> None:
    answer = signed_in(plant.alice).post("/scheduling/preview/", JOB | {"containers-0-image": ""})
    assert (answer.status_code, [field for field, _label, _text in answer.context["faults"]]) == (
        200,
        ["containers-0-image"],
    )
