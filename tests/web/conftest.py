"""People at the pages: one browser each, and a plant on which things fit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from tests.support.world import World

SignedIn = Callable[..., Client]


@pytest.fixture
def signed_in() -> SignedIn:
    """``signed_in(person)``: this person's browser; a server's error is an answer to it, no exception."""

    def opened(person: User | None = None, *, enforce_csrf_checks: bool = False) -> Client:
        client = Client(raise_request_exception=False, enforce_csrf_checks=enforce_csrf_checks)
        if person is not None:
            client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return opened


@pytest.fixture
def plant(world: World) -> World:
    world.a_plant()
    return world
