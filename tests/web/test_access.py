"""Every page and every socket has a row here: who gets what (domain.md §13). A URL without a row fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from apps.accounts.models import User
from apps.tasks.models import Task
from apps.tasks.services.submission import submit_task
from platform_site.sockets import websocket_urlpatterns
from tests.support.world import World, a_spec

OPEN = {"alive", "ready"}
ELSEWHERE = {"ingest-vector": "tests/services/logs/test_ingest_endpoint.py", "api-schema": "tests/api/test_access.py"}
SIGNED_IN = {
    "dashboard:overview",
    "dashboard:resources",
    "dashboard:cluster-list",
    "tasks:task-list",
    "tasks:task-new",
    "organisations:project-list",
    "quotas:quota-list",
    "accounts:tokens",
    "accounts:preferences",
}
SIGNED_IN_POST = {"scheduling:preview"}
CLUSTER = {"dashboard:cluster-detail"}
CLUSTER_ADMIN = {"dashboard:cluster-new", "dashboard:cluster-credentials"}
CLUSTER_ADMIN_POST = {"dashboard:cluster-check"}
OWN = {"accounts:token-create", "accounts:token-revoke"}
TASK_READ = {f"tasks:task-{tab}" for tab in ("detail", "instances", "logs", "events", "revisions", "yaml")}
TASK_FORMS = {f"tasks:task-{verb}" for verb in ("edit", "restart", "stop", "delete", "scale", "rename")}
TASK_POSTS = {f"tasks:task-{verb}" for verb in ("pause", "resume", "rollback")}
TASK_COPY = {"tasks:task-clone"}
PROJECT_READ = {"organisations:project-detail"}
PROJECT_POSTS = {"organisations:member-set", "organisations:member-remove"}
TASK = TASK_READ | TASK_FORMS | TASK_POSTS | TASK_COPY
ROWS = (
    OPEN
    | set(ELSEWHERE)
    | SIGNED_IN
    | SIGNED_IN_POST
    | CLUSTER
    | CLUSTER_ADMIN
    | CLUSTER_ADMIN_POST
    | OWN
    | TASK
    | PROJECT_READ
    | PROJECT_POSTS
)
SOCKETS = {"ws/tasks": "tests/consumers/live", "ws/tasks/<uuid:pk>": "tests/consumers/logs/test_task_socket.py"}
LIBRARIES = ("admin/", "accounts/", "i18n/", "metrics/", "api/v1/")


def _named(patterns: list[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    for entry in patterns:
        if isinstance(entry, URLResolver):
            inner = f"{space}{entry.namespace}:" if entry.namespace else space
            yield from _named(entry.url_patterns, inner)
        elif entry.name:
            yield f"{space}{entry.name}"


def test_every_page_has_a_row() -> None:
    ours = [entry for entry in get_resolver().url_patterns if not str(entry.pattern).startswith(LIBRARIES)]
    assert set(_named(ours)) == ROWS - {"api-schema"}


def test_every_socket_has_a_row() -> None:
    assert {str(entry.pattern) for entry in websocket_urlpatterns} == set(SOCKETS)


@pytest.fixture
def task(world: World) -> Task:
    world.a_plant()
    return submit_task(a_spec(), by=world.alice, now=world.now)


def _status(person: User | None, name: str, *args: object, method: str = "get") -> int:
    client = Client()
    if person is not None:
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return int(getattr(client, method)(reverse(name, args=args)).status_code)


@pytest.mark.parametrize("name", sorted(SIGNED_IN))
def test_a_page_of_ones_own_needs_a_sign_in(world: World, name: str) -> None:
    assert (_status(None, name), _status(world.charlie, name)) == (302, 200)


@pytest.mark.parametrize("name", sorted(SIGNED_IN_POST))
def test_a_deed_of_ones_own_needs_a_sign_in_and_a_post(world: World, name: str) -> None:
    answers = (_status(None, name, method="post"), _status(world.charlie, name))
    assert answers == (302, 405)


def test_a_cluster_is_shown_to_whoever_is_signed_in(task: Task, world: World) -> None:
    name = "dashboard:cluster-detail"
    found = [
        _status(None, name, "beijing"),
        _status(world.charlie, name, "beijing"),
        _status(world.charlie, name, "no"),
    ]
    assert found == [302, 200, 404]


@pytest.mark.parametrize("name", sorted(CLUSTER_ADMIN))
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_cluster_is_changed_by_administrators_alone(task: Task, world: World, name: str, method: str) -> None:
    people = (None, world.charlie, world.alice, world.olga, world.otto, world.ada)
    args = () if name.endswith("new") else ("beijing",)
    assert [_status(person, name, *args, method=method) for person in people] == [302, 403, 403, 403, 403, 200]


def test_a_cluster_is_checked_by_administrators_alone(task: Task, world: World) -> None:
    people, name = (None, world.charlie, world.alice, world.otto, world.ada), "dashboard:cluster-check"
    assert [_status(person, name, "beijing", method="post") for person in people] == [302, 403, 403, 403, 302]
    assert (_status(world.ada, name, "beijing"), _status(world.ada, name, "nowhere", method="post")) == (405, 404)


def test_the_address_that_makes_a_token_leads_to_the_tokens(world: World) -> None:
    name = "accounts:token-create"
    assert [_status(None, name, method="post"), _status(None, name), _status(world.charlie, name)] == [302, 302, 302]


def test_another_persons_token_is_not_there(world: World) -> None:
    assert _status(world.charlie, "accounts:token-revoke", 1, method="post") == 404


@pytest.mark.parametrize("name", sorted(TASK_READ))
def test_a_task_is_read_by_its_project_alone(task: Task, world: World, name: str) -> None:
    people = (None, world.charlie, world.victor, world.alice, world.otto, world.ada)
    assert [_status(person, name, task.pk) for person in people] == [302, 404, 200, 200, 200, 200]


@pytest.mark.parametrize("name", sorted(TASK_FORMS | TASK_POSTS))
def test_a_task_is_acted_on_by_members_alone(task: Task, world: World, name: str) -> None:
    people = (None, world.charlie, world.victor, world.otto)
    assert [_status(person, name, task.pk, method="post") for person in people] == [302, 404, 403, 403]
    assert _status(world.alice, name, task.pk, method="post") not in {302 + 1, 403, 404, 405, 500}


@pytest.mark.parametrize("name", sorted(TASK_POSTS))
def test_no_get_changes_a_task(task: Task, world: World, name: str) -> None:
    _status(world.alice, name, task.pk)
    task.refresh_from_db()
    assert (task.state, task.version) == ("queued", 1)


def test_a_copy_begins_in_the_form_for_whoever_may_read(task: Task, world: World) -> None:
    assert [_status(person, "tasks:task-clone", task.pk) for person in (None, world.charlie, world.alice)] == [
        302,
        404,
        302,
    ]


def test_a_project_is_read_by_its_members_alone(world: World) -> None:
    people = (None, world.charlie, world.victor, world.ada)
    assert [_status(person, "organisations:project-detail", "map-team") for person in people] == [302, 404, 200, 200]


@pytest.mark.parametrize("name", sorted(PROJECT_POSTS))
def test_members_are_managed_by_owners_alone(world: World, name: str) -> None:
    args = ("map-team", world.victor.pk) if name.endswith("remove") else ("map-team",)
    people = (None, world.charlie, world.victor, world.alice)
    assert [_status(person, name, *args, method="post") for person in people] == [302, 404, 403, 403]
    assert _status(world.olga, name, *args, method="post") == 302
