"""POST /tasks/preview: the split, the objects and the verdict, and nothing stored."""

from __future__ import annotations

from apps.quotas.models import Quota, Reservation
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.api.wire import a_container, a_job
from tests.support.world import World

ADDRESS = "/api/v1/tasks/preview"


def test_a_submission_that_starts_now_is_shown_whole(plant: World, caller: Caller) -> None:
    # domain.md §4: 14000m to 9333m on 20 cores, 51200 to 4200 MiB on 101 GiB.
    containers = [a_container(cpu="14", memory="50Gi"), a_container("side", cpu="9333m", memory="4200Mi")]
    body = caller(plant.alice).post(ADDRESS, a_job(containers=containers), format="json").json()
    limits = [
        {name: share["limits"][name] for name in ("cpu_millicores", "memory_mib")}
        for share in body["split"]["per_node"]
    ]
    assert limits == [
        {"cpu_millicores": 12_000, "memory_mib": 95_583},
        {"cpu_millicores": 8_000, "memory_mib": 7_841},
    ]
    assert [(share["container"], share["requests"]["cpu"], share["cards"]) for share in body["split"]["per_node"]] == [
        ("main", "3", 1),
        ("side", "2", 0),
    ]
    names = ("verdict", "reason", "cluster", "pool")
    assert [body["admission"][name] for name in names] == ["starts_now", None, "beijing", "public"]
    assert body["manifests"][0]["kind"] == "Job"
    assert body["quota"] == [{"resource": "cards:rtx-4090", "limit": 16, "before": 0, "asked": 1, "after": 1}]


def test_nothing_is_stored(plant: World, caller: Caller) -> None:
    caller(plant.alice).post(ADDRESS, a_job(), format="json")
    assert (Task.objects.count(), Reservation.objects.count()) == (0, 0)


def test_what_must_wait_says_why(plant: World, caller: Caller) -> None:
    plant.cluster.nodes.update(ready=False)
    body = caller(plant.alice).post(ADDRESS, a_job(), format="json").json()
    assert body["admission"]["verdict"] == "queues"
    assert body["admission"]["reason"]
    assert [card["cluster"] for card in body["admission"]["clusters"]] == ["beijing"]


def test_a_refusal_is_part_of_the_answer(plant: World, caller: Caller) -> None:
    Quota.objects.filter(resource="cards:rtx-4090").update(limit=0)
    answer = caller(plant.alice).post(ADDRESS, a_job(), format="json")
    admission = answer.json()["admission"]
    assert (answer.status_code, admission["verdict"], admission["reason"]) == (200, "refused", "quota_exceeded")
    assert {name: admission["numbers"][name] for name in ("asked", "used", "limit")} == {
        "asked": 1,
        "used": 0,
        "limit": 0,
    }


def test_what_is_no_spec_is_a_problem(plant: World, caller: Caller) -> None:
    answer = caller(plant.alice).post(ADDRESS, a_job(kind="Cron"), format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["kind"])


def test_a_reader_may_not_preview_in_the_projects_name(plant: World, caller: Caller) -> None:
    assert caller(plant.victor).post(ADDRESS, a_job(), format="json").status_code == 403
    assert caller(plant.charlie).post(ADDRESS, a_job(), format="json").status_code == 404
