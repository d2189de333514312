"""Who reads and who changes quotas (domain.md §13)."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.quotas import access
from tests.support.world import World


@pytest.mark.parametrize(
    ("person", "seen"),
    [
        ("alice", {"project", "own"}),
        ("victor", {"project"}),
        ("charlie", set()),
        ("ada", {"project", "own"}),
        ("otto", {"project", "own"}),
    ],
)
def test_members_see_their_projects_quota_and_everyone_their_own(world: World, person: str, seen: set[str]) -> None:
    """F26: no line of another's."""
    names = {
        world.a_quota("cpu", 1, project=world.project).pk: "project",
        world.a_quota("cpu", 1, user=world.alice).pk: "own",
    }
    found = access.visible_quotas(getattr(world, person))
    assert {names[quota.pk] for quota in found} == seen


def test_only_an_administrator_changes_a_limit(world: World) -> None:
    quota = world.a_quota("cpu", 1, project=world.project)
    assert access.quota_to_change(world.ada, quota.pk) == quota
    for reader in (world.olga, world.victor, world.otto):
        with pytest.raises(PermissionDenied):
            access.quota_to_change(reader, quota.pk)
    with pytest.raises(Http404):
        access.quota_to_change(world.charlie, quota.pk)
