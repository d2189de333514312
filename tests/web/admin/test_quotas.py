"""The operator's main screen: limits beside their use, changed in the list, each change audited."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.kernel.errors import Refused
from apps.quotas.models import Quota
from apps.tasks.services.submission import submit_task
from tests.support.world import World, a_spec

LIST = "/admin/quotas/quota/"


def edit_in_list(browser: Client, *limits: tuple[Quota, str]) -> Any:
    """Save the list with these limits typed in, as the browser sends it."""
    form = {"form-TOTAL_FORMS": str(len(limits)), "form-INITIAL_FORMS": str(len(limits)), "_save": "Save"}
    ordered = sorted(limits, key=lambda pair: pair[0].resource)
    for place, (quota, limit) in enumerate(ordered):
        form |= {f"form-{place}-id": str(quota.pk), f"form-{place}-limit": limit}
    return browser.post(LIST, form)


def audited() -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    return list(AuditEvent.objects.order_by("pk").values_list("actor_name", "action", "before", "after"))


def test_a_limit_changed_in_the_list_is_audited_and_the_next_submission_refused(
    world: World, admin_panel: Client
) -> None:
    world.a_plant(quota=4)
    submit_task(a_spec("first"), by=world.alice, now=world.now)
    AuditEvent.objects.all().delete()
    quota = Quota.objects.get(resource="cards:rtx-4090")
    rows = {row: str(row.limit) for row in Quota.objects.all()} | {quota: "1"}
    assert edit_in_list(admin_panel, *rows.items()).status_code == 302
    assert audited() == [("ada", "quota.limit_set", {"limit": 4}, {"limit": 1})]
    with pytest.raises(Refused) as refused:
        submit_task(a_spec("second"), by=world.alice, now=world.now)
    numbers = refused.value.refusal.numbers
    assert (numbers["asked"], numbers["used"], numbers["limit"]) == (1, 1, 1)


def test_a_list_saved_unchanged_writes_nothing(world: World, admin_panel: Client) -> None:
    quota = world.a_quota("cpu", 1000, project=world.project)
    assert edit_in_list(admin_panel, (quota, "1000")).status_code == 302
    assert audited() == []


@pytest.mark.parametrize("limit", ["-1", "1.5", "inf", "NaN", "", "1e3", "9" * 30, str(2**53 + 1), "x"])
def test_what_is_no_limit_is_refused_at_its_field(world: World, admin_panel: Client, limit: str) -> None:
    quota = world.a_quota("cpu", 1000, project=world.project)
    answer = edit_in_list(admin_panel, (quota, limit))
    quota.refresh_from_db()
    assert (answer.status_code, quota.limit, audited()) == (200, 1000, [])
    assert "limit" in answer.context["cl"].formset.errors[0]


def test_use_waiting_free_and_overhang_stand_beside_the_limit(world: World, admin_panel: Client) -> None:
    world.a_plant(quota=4)
    submit_task(a_spec("first"), by=world.alice, now=world.now)
    Quota.objects.filter(resource="cards:rtx-4090").update(limit=0)
    (row,) = [row for row in admin_panel.get(LIST).context["cl"].result_list if row.resource == "cards:rtx-4090"]
    assert (row.limit, row.held, row.pending) == (0, 1, 1)
    page = admin_panel.get(LIST, {"use": "over"})
    assert [row.resource for row in page.context["cl"].result_list] == ["cards:rtx-4090"]
    assert b'<meter min="0" max="1" value="1" high="0"' in page.content


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"scope": "project"}, 1),
        ({"scope": "user"}, 1),
        ({"q": "map-team"}, 1),
        ({"q": "charlie"}, 1),
        ({"resource": "cpu"}, 2),
        ({"use": "used"}, 0),
    ],
)
def test_quotas_are_found_by_scope_resource_and_name(
    world: World, admin_panel: Client, query: dict[str, str], found: int
) -> None:
    world.a_quota("cpu", 1000, project=world.project)
    world.a_quota("cpu", 1000, user=world.charlie)
    assert len(admin_panel.get(LIST, query).context["cl"].result_list) == found


def test_a_quota_is_added_and_audited(world: World, admin_panel: Client) -> None:
    form = {"project": str(world.project.pk), "user": "", "resource": "cards:rtx-4090", "limit": "8"}
    assert admin_panel.post(f"{LIST}add/", form).status_code == 302
    assert Quota.objects.get().limit == 8
    assert [(who, what) for who, what, _before, _after in audited()] == [("ada", "quota.added")]


@pytest.mark.parametrize(
    "changes",
    [
        {"resource": "gpu"},
        {"limit": "-1"},
        {"project": ""},
        {"user": "own"},
        {"resource": "cpu"},
        {"resource": "cards:" + "x" * 90},
    ],
)
def test_a_quota_that_cannot_be_is_refused_in_the_form(
    world: World, admin_panel: Client, changes: dict[str, str]
) -> None:
    world.a_quota("cpu", 1000, project=world.project)
    form = {"project": str(world.project.pk), "user": "", "resource": "memory", "limit": "8"} | changes
    if form["user"] == "own":
        form["user"] = str(world.alice.pk)
    answer = admin_panel.post(f"{LIST}add/", form)
    assert (answer.status_code, Quota.objects.count(), audited()) == (200, 1, [])


def test_a_limit_is_changed_on_its_own_page_too_and_its_scope_never(world: World, admin_panel: Client) -> None:
    quota = world.a_quota("cpu", 1000, project=world.project)
    form = {"limit": "2000", "resource": "memory", "project": str(world.foreign_project.pk)}
    assert admin_panel.post(f"{LIST}{quota.pk}/change/", form).status_code == 302
    quota.refresh_from_db()
    assert (quota.limit, quota.resource, quota.project) == (2000, "cpu", world.project)
    assert [what for _who, what, _before, _after in audited()] == ["quota.limit_set"]


def test_a_quota_is_never_deleted(world: World, admin_panel: Client) -> None:
    quota = world.a_quota("cpu", 1000, project=world.project)
    assert admin_panel.post(f"{LIST}{quota.pk}/delete/", {"post": "yes"}).status_code == 403


def test_the_list_costs_the_same_number_of_queries_for_many(
    world: World, admin_panel: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(40):
        world.a_quota(f"cards:mark-{number}", number, project=world.project)
    with django_assert_max_num_queries(20):
        admin_panel.get(LIST)
