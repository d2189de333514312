"""The audit row: beside its change, gone with it, without secrets, readable by few."""

from __future__ import annotations

import pytest
from django.db import transaction

from apps.audit import access, selectors, services
from apps.audit.models import AuditEvent
from tests.support.world import World


def test_a_change_is_recorded_with_who_what_and_from_where(world: World) -> None:
    services.record(
        "project.renamed",
        on=world.project,
        by=world.ada,
        now=world.now,
        before={"name": "a"},
        after={"name": "b"},
        source="127.0.0.1",
    )
    (event,) = selectors.history(world.project)
    assert (event.at, event.actor, event.actor_name, event.action) == (world.now, world.ada, "ada", "project.renamed")
    assert (event.subject_type, event.subject_id, event.subject_name, event.source) == (
        "organisations.project",
        str(world.project.pk),
        "map-team",
        "127.0.0.1",
    )
    assert (event.before, event.after) == ({"name": "a"}, {"name": "b"})


def test_the_platforms_own_doing_has_no_actor(world: World) -> None:
    services.record("node.gone", on=world.project, by=None, now=world.now)
    assert [(event.actor, event.actor_name) for event in selectors.history(world.project)] == [(None, "")]


def test_a_change_that_is_rolled_back_leaves_no_row(world: World) -> None:
    with transaction.atomic():
        services.record("project.renamed", on=world.project, by=world.ada, now=world.now)
        transaction.set_rollback(True)
    assert AuditEvent.objects.count() == 0


def test_a_secret_value_reaches_no_row(world: World) -> None:
    services.record(
        "cluster.changed",
        on=world.project,
        by=world.ada,
        now=world.now,
        after={"token": "hunter2", "env": {"API_KEY": "hunter2"}},
    )
    assert "hunter2" not in str(AuditEvent.objects.values().get())


def test_text_that_postgresql_refuses_is_recorded_all_the_same(world: World) -> None:
    services.record(
        "x\x00\ud800" * 90, on=world.project, by=world.ada, now=world.now, after={"\x00": "\x00\ud800"}, source="\x00"
    )
    assert AuditEvent.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "seen"), [("ada", 1), ("otto", 1), ("olga", 0), ("alice", 0), ("victor", 0), ("charlie", 0)]
)
def test_administrators_and_auditors_alone_read_the_audit(world: World, name: str, seen: int) -> None:
    services.record("project.renamed", on=world.project, by=world.ada, now=world.now)
    assert access.visible_events(getattr(world, name)).count() == seen
