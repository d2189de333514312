"""Who may enter the admin panel: administrators; auditors to read when let in as staff; nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from apps.accounts.models import User
from tests.support.running import a_running_task, an_event, an_instance
from tests.support.world import World

MODELS = sorted(model._meta.label_lower for model in admin.site._registry if model.__module__.startswith("apps."))


def address(label: str, what: str = "") -> str:
    return f"/admin/{label.replace('.', '/')}/{what}"


@pytest.mark.django_db
def test_everybody_signs_in_at_the_sites_own_page() -> None:
    answer = Client().get("/admin/quotas/quota/", follow=True)
    assert [place for place, _ in answer.redirect_chain] == [
        "/admin/login/?next=/admin/quotas/quota/",
        "/accounts/login/?next=%2Fadmin%2Fquotas%2Fquota%2F",
    ]


@pytest.mark.parametrize("name", ["charlie", "victor", "alice", "olga"])
@pytest.mark.parametrize("label", MODELS)
def test_strangers_viewers_members_and_owners_do_not_get_in(
    world: World, signed_in: Any, name: str, label: str
) -> None:
    browser = signed_in(getattr(world, name))
    assert browser.get(address(label), follow=True).status_code == 403


@pytest.mark.parametrize("label", MODELS)
def test_every_list_opens_for_the_administrator_whatever_is_in_it(
    world: World, admin_panel: Client, label: str
) -> None:
    task = a_running_task(world, world.a_plant())
    an_instance(task, world)
    an_event(task, world)
    assert admin_panel.get(address(label)).status_code == 200
    assert admin_panel.get(address(label), {"q": "map<'\"\\%"}).status_code == 200


@pytest.mark.parametrize("label", MODELS)
def test_an_auditor_on_the_staff_reads_and_changes_nothing(world: World, signed_in: Any, label: str) -> None:
    world.a_plant()
    User.objects.filter(pk=world.otto.pk).update(is_staff=True)
    browser = signed_in(world.otto)
    assert browser.get(address(label)).status_code == 200
    assert browser.get(address(label, "add/")).status_code == 403


def test_an_auditor_cannot_change_a_limit(world: World, signed_in: Any) -> None:
    quota = world.a_quota("cpu", 1000, project=world.project)
    User.objects.filter(pk=world.otto.pk).update(is_staff=True)
    answer = signed_in(world.otto).post(address("quotas.quota", f"{quota.pk}/change/"), {"limit": "1"})
    quota.refresh_from_db()
    assert (answer.status_code, quota.limit) == (403, 1000)


@pytest.mark.parametrize(
    "label", ["tasks.task", "audit.auditevent", "scheduling.admission", "logs.setaside", "clusters.node"]
)
def test_what_the_platform_writes_cannot_be_added_by_hand(world: World, admin_panel: Client, label: str) -> None:
    assert admin_panel.get(address(label, "add/")).status_code == 403
