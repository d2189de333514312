"""People at the admin panel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from apps.accounts.models import User
from tests.support.world import World

SignedIn = Callable[[User], Client]


@pytest.fixture
def signed_in() -> SignedIn:
    """A browser in which this person is signed in."""

    def open_for(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return open_for


@pytest.fixture
def admin_panel(world: World, signed_in: SignedIn) -> Client:
    """The administrator's browser."""
    return signed_in(world.ada)
