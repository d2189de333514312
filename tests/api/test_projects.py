"""Projects, members, quotas and who the caller is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apps.audit.models import AuditEvent
from apps.organisations.models import Membership, Project
from apps.quotas.models import Quota
from apps.tasks.models import Task
from tests.api.conftest import Caller
from tests.support.world import World

Submitted = Callable[..., Task]


def test_me_is_the_person_with_scopes_projects_and_roles(world: World, caller: Caller) -> None:
    body = caller(world.alice, "tasks:read", "logs:read").get("/api/v1/me").json()
    token = body.pop("token")
    created = body["projects"][0].pop("created_at")
    assert body == {
        "user": "alice",
        "name": "",
        "is_admin": False,
        "is_auditor": False,
        "scopes": ["logs:read", "tasks:read"],
        "projects": [{"slug": "map-team", "name": "map-team", "department": "map", "role": "member"}],
    }
    assert (token["name"], token["prefix"][:4], created) == ("test", "ptk_", "2026-12-01T12:00:00Z")


def test_f26_the_list_of_projects_shows_ones_own(world: World, caller: Caller) -> None:
    rows = caller(world.victor).get("/api/v1/projects").json()["results"]
    assert [(row["slug"], row["role"]) for row in rows] == [("map-team", "viewer")]
    everything = caller(world.ada).get("/api/v1/projects").json()["results"]
    assert [(row["slug"], row["role"]) for row in everything] == [("map-team", None), ("sim-team", None)]


def test_an_administrator_opens_a_project(world: World, caller: Caller) -> None:
    body = {"slug": "plan-team", "name": "Planning", "department": "map", "owner": "alice"}
    answer = caller(world.ada).post("/api/v1/projects", body, format="json")
    assert (answer.status_code, answer.json()["slug"]) == (201, "plan-team")
    assert Membership.objects.get(project__slug="plan-team").user == world.alice
    again = caller(world.ada).post("/api/v1/projects", body, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate_name")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"slug": "Plan Team"}, "slug"),
        ({"department": "none"}, "department"),
        ({"owner": "nobody"}, "owner"),
        ({"name": ""}, "name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_project_is_refused_at_its_field(
    world: World, caller: Caller, changes: dict[str, str], field: str
) -> None:
    body = {"slug": "plan-team", "name": "Planning", "department": "map", "owner": "alice"} | changes
    answer = caller(world.ada).post("/api/v1/projects", body, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, [field])
    assert Project.objects.count() == 2


def test_an_owner_gives_changes_and_takes_roles(world: World, caller: Caller) -> None:
    client, address = caller(world.olga), "/api/v1/projects/map-team/members"
    for role in ("viewer", "member"):
        answer = client.post(address, {"user": "charlie", "role": role}, format="json")
        assert (answer.status_code, answer.json()) == (201, {"user": "charlie", "name": "", "role": role})
    assert client.delete(f"{address}/charlie").status_code == 204
    rows = client.get(address).json()["results"]
    assert [(row["user"], row["role"]) for row in rows] == [
        ("alice", "member"),
        ("olga", "owner"),
        ("victor", "viewer"),
    ]


def test_the_last_owner_stays(world: World, caller: Caller) -> None:
    client, address = caller(world.olga), "/api/v1/projects/map-team/members"
    assert client.delete(f"{address}/olga").status_code == 422
    assert client.post(address, {"user": "olga", "role": "viewer"}, format="json").status_code == 422


def test_a_quota_tells_use_and_holders(submitted: Submitted, plant: World, caller: Caller) -> None:
    task = submitted()
    rows = caller(plant.victor).get("/api/v1/quotas?project=map-team").json()["results"]
    quota = next(row for row in rows if row["resource"] == "cards:rtx-4090")
    assert quota == {
        "id": quota["id"],
        "scope": {"kind": "project", "name": "map-team"},
        "project": "map-team",
        "user": None,
        "resource": "cards:rtx-4090",
        "limit": 16,
        "used": 1,
        "held_by_pending": 1,
        "overhang": 0,
        "holders": [str(task.pk)],
        "text": {"limit": "16", "used": "1"},
    }


def test_f26_quotas_of_others_are_not_there(plant: World, caller: Caller) -> None:
    plant.a_quota("cpu", 1, project=plant.foreign_project)
    plant.a_quota("cpu", 1, user=plant.charlie)
    client = caller(plant.alice)
    for query in ("?project=sim-team", "?user=charlie", "?project=sim-team&user=charlie"):
        assert client.get(f"/api/v1/quotas{query}").json()["results"] == []


def test_a_lowered_limit_shows_its_overhang_and_is_audited(submitted: Submitted, plant: World, caller: Caller) -> None:
    submitted()
    quota = Quota.objects.get(resource="cards:rtx-4090")
    answer = caller(plant.ada).patch(f"/api/v1/quotas/{quota.pk}", {"limit": 0}, format="json")
    body = answer.json()
    assert (answer.status_code, body["limit"], body["used"], body["overhang"]) == (200, 0, 1, 1)
    event = AuditEvent.objects.get(action="quota.limit_set")
    assert (event.actor_name, event.before, event.after) == ("ada", {"limit": 16}, {"limit": 0})


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True, None, 10**16])
def test_no_limit_is_refused(plant: World, caller: Caller, limit: object) -> None:
    quota = Quota.objects.get(resource="cards:rtx-4090")
    answer = caller(plant.ada).patch(f"/api/v1/quotas/{quota.pk}", {"limit": limit}, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["limit"])
