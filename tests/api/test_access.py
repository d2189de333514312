"""Every call of REST × every role on a foreign object: strangers find nothing, readers may not act (domain.md §13).

A route or method without a row fails ``test_every_call_has_its_row``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.quotas.models import Quota
from apps.tasks.models import Task
from platform_site.api_urls import urlpatterns
from tests.api.conftest import Caller
from tests.api.wire import a_job
from tests.support.world import World

ROLES = ("anonymous", "stranger", "viewer", "member", "owner", "auditor", "admin")
METHODS = ("get", "post", "put", "patch", "delete")
Row = tuple[int, ...]

# What anonymous, stranger, viewer, member, owner, auditor and admin get for one object of the project map-team.
LIST: Row = (401, 200, 200, 200, 200, 200, 200)
READ: Row = (401, 404, 200, 200, 200, 200, 200)
OPEN: Row = (200, 200, 200, 200, 200, 200, 200)


def act(status: int) -> Row:
    return (401, 404, 403, status, status, 403, status)


def manage(status: int) -> Row:
    return (401, 404, 403, 403, status, 403, status)


def administer(status: int) -> Row:
    """What every signed-in person may see and administrators alone may change: no 404, the clusters are no secret."""
    return (401, 403, 403, 403, 403, 403, status)


A_SILENT_CLUSTER = {"server": "http://127.0.0.1:1", "token": "unknown-to-all", "anyway": True}
CALLS: dict[tuple[str, str], tuple[Row, Any]] = {
    ("get", "schema"): (OPEN, None),
    ("get", "me"): (LIST, None),
    ("get", "projects"): (LIST, None),
    ("post", "projects"): (
        (401, 403, 403, 403, 403, 403, 201),
        {"slug": "new", "name": "New", "department": "map", "owner": "olga"},
    ),
    ("get", "projects/{slug}"): (READ, None),
    ("get", "projects/{slug}/members"): (READ, None),
    ("post", "projects/{slug}/members"): (manage(201), {"user": "charlie", "role": "viewer"}),
    ("delete", "projects/{slug}/members/{username}"): (manage(204), None),
    ("get", "quotas"): (LIST, None),
    ("patch", "quotas/{pk}"): ((401, 404, 403, 403, 403, 403, 200), {"limit": 3}),
    ("get", "tasks"): (LIST, None),
    ("post", "tasks"): (act(201), a_job("another")),
    ("post", "tasks/preview"): (act(200), a_job("another")),
    ("get", "tasks/{pk}"): (READ, None),
    ("patch", "tasks/{pk}"): (act(200), {"display_name": "renamed"}),
    ("put", "tasks/{pk}"): (act(409), a_job("another")),
    ("delete", "tasks/{pk}"): (act(202), None),
    ("post", "tasks/{pk}/pause"): (act(202), None),
    ("post", "tasks/{pk}/resume"): (act(409), None),
    ("post", "tasks/{pk}/restart"): (act(409), None),
    ("post", "tasks/{pk}/stop"): (act(202), None),
    ("post", "tasks/{pk}/scale"): (act(409), {"nodes": 2}),
    ("post", "tasks/{pk}/rollback"): (act(409), {"revision": 1}),
    ("post", "tasks/{pk}/clone"): (act(201), {"changes": {"display_name": "another"}}),
    ("get", "tasks/{pk}/instances"): (READ, None),
    ("get", "tasks/{pk}/revisions"): (READ, None),
    ("get", "tasks/{pk}/revisions/{number}/diff"): (READ, None),
    ("get", "tasks/{pk}/events"): (READ, None),
    ("get", "tasks/{pk}/attempts"): (READ, None),
    ("get", "tasks/{pk}/logs"): (READ, None),
    ("get", "resources"): (LIST, None),
    ("get", "clusters"): (LIST, None),
    ("post", "clusters"): (administer(201), A_SILENT_CLUSTER | {"name": "another"}),
    ("get", "clusters/{name}"): (LIST, None),
    ("put", "clusters/{name}/credentials"): (administer(200), A_SILENT_CLUSTER),
    ("post", "clusters/{name}/check"): (administer(200), None),
    ("get", "clusters/{name}/nodes"): (LIST, None),
    ("get", "pools"): (LIST, None),
}


def served(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every (method, route) that REST serves, with ``{name}`` for each converter."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from served(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            for part in pattern.pattern.converters:
                start, end = route.rindex("<", 0, route.index(f":{part}>")), route.index(f":{part}>") + len(part) + 2
                route = route[:start] + "{" + part + "}" + route[end:]
            view = getattr(pattern.callback, "view_class", None)
            yield from ((method, route) for method in METHODS if hasattr(view, method))


def test_every_call_has_its_row() -> None:
    assert sorted(CALLS) == sorted(set(served(urlpatterns)))


@pytest.fixture
def addresses(submitted: Callable[..., Task], plant: World) -> dict[str, str]:
    """A task of the project stands for every task; its quota, its member and its cluster for the others."""
    task = submitted()
    quota = Quota.objects.get(resource="cards:rtx-4090", project=plant.project)
    return {
        "quotas/{pk}": str(quota.pk),
        "pk": str(task.pk),
        "slug": "map-team",
        "username": "victor",
        "number": "1",
        "name": plant.cluster.name,
    }


def address_of(route: str, addresses: dict[str, str]) -> str:
    values = addresses | {"pk": addresses.get(route, addresses["pk"])}
    return f"/api/v1/{route.format(**values)}"


def people(world: World) -> dict[str, User | None]:
    cast = (None, world.charlie, world.victor, world.alice, world.olga, world.otto, world.ada)
    return dict(zip(ROLES, cast, strict=True))


@pytest.mark.parametrize(("method", "route"), sorted(CALLS))
def test_each_role_gets_what_the_table_says(
    plant: World, caller: Caller, addresses: dict[str, str], method: str, route: str
) -> None:
    row, body = CALLS[method, route]
    found = []
    for person in people(plant).values():
        client: APIClient = caller(person)
        with transaction.atomic():
            answer = getattr(client, method)(address_of(route, addresses), body, **in_json(body))
            transaction.set_rollback(True)
        found.append(answer.status_code)
    assert dict(zip(ROLES, found, strict=True)) == dict(zip(ROLES, row, strict=True))


def in_json(body: Any) -> dict[str, str]:
    return {"format": "json"} if body else {}


@pytest.mark.parametrize(
    ("method", "route"), sorted(call for call in CALLS if "{pk}" in call[1] or "{slug}" in call[1])
)
def test_what_is_not_there_looks_like_what_is_foreign(
    plant: World, caller: Caller, addresses: dict[str, str], method: str, route: str
) -> None:
    body = CALLS[method, route][1]
    nowhere = addresses | {"pk": "00000000-0000-4000-8000-000000000000", "quotas/{pk}": "987654321", "slug": "no-team"}
    client = caller(plant.charlie)
    answers = [
        getattr(client, method)(address_of(route, where), body, **in_json(body)) for where in (addresses, nowhere)
    ]
    told = [{**answer.json(), "request_id": ""} for answer in answers]
    assert told[0] == told[1]
    assert told[0]["status"] == 404


@pytest.mark.parametrize(("method", "route"), sorted(call for call in CALLS if call[1] not in {"schema", "me"}))
def test_a_token_without_the_scope_is_refused_by_name(
    plant: World, caller: Caller, addresses: dict[str, str], method: str, route: str
) -> None:
    client = caller(
        plant.ada, "clusters:read" if not route.startswith(("clusters", "pools", "resources")) else "logs:read"
    )
    answer = getattr(client, method)(address_of(route, addresses))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert answer.json()["scope"] in answer.json()["detail"]
