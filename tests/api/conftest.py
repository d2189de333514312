"""Callers of REST: one client a person, by token; and a plant on which things fit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.services import issue_full_token, issue_token
from apps.kernel import clock
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.models import Task
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec

Caller = Callable[..., APIClient]


@pytest.fixture
def caller(db: None) -> Caller:
    """``caller(person)`` calls with a token of every scope, ``caller(person, "tasks:read")`` with these only."""

    def made(person: User | None, *scopes: str) -> APIClient:
        client = APIClient(raise_request_exception=False)
        if person is not None:
            now = clock.now()
            text = (
                issue_token(person, name="test", scopes=scopes, by=person, now=now)[1]
                if scopes
                else issue_full_token(person, name="test", now=now)
            )
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    return made


@pytest.fixture
def plant(world: World) -> World:
    world.a_plant()
    return world


@pytest.fixture
def submitted(plant: World, now: datetime) -> Callable[..., Task]:
    """``submitted(name, by=person, **changes)``: a task in the queue, of the project unless told otherwise."""

    def made(name: str = "train-a", *, by: User | None = None, spec: TaskSpec | None = None, **changes: object) -> Task:
        return submit_task(spec or a_spec(name, **changes), by=by or plant.alice, now=now)

    return made
