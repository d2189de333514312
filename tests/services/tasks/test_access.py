"""Who finds a task and who may act on it (domain.md §13)."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.organisations import access
from apps.organisations.domain.roles import Action
from tests.support.world import World


def test_a_stranger_finds_no_project(world: World) -> None:
    with pytest.raises(Http404):
        access.project_for(world.charlie, "map-team")


def test_a_viewer_reads_but_may_not_act(world: World) -> None:
    assert access.project_for(world.victor, "map-team") == world.project
    with pytest.raises(PermissionDenied):
        access.project_for(world.victor, "map-team", to=Action.ACT_ON_TASKS)
