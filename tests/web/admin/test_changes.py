"""Everything else in the panel: each change has its audit row, secrets none, and rules hold as everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.accounts import services as accounts
from apps.accounts.models import ApiToken, User
from apps.audit.models import AuditEvent
from apps.clusters import sealing
from apps.clusters.models import AcceleratorType, Cluster, Node, Pool
from apps.logs.access import shipper_cluster
from apps.organisations.models import Membership, Project
from tests.support.world import World


def audited() -> list[tuple[str, str]]:
    return list(AuditEvent.objects.order_by("pk").values_list("actor_name", "action"))


def members(project: Project | None, *roles: tuple[User, str, str]) -> dict[str, str]:
    """The members' rows as the form sends them: person, role, and what to tick."""
    kept = dict(project.memberships.values_list("user_id", "pk")) if project else {}
    form = {"memberships-TOTAL_FORMS": str(len(roles)), "memberships-INITIAL_FORMS": str(len(kept))}
    for place, (user, role, tick) in enumerate(sorted(roles, key=lambda row: row[0].pk not in kept)):
        form |= {f"memberships-{place}-user": str(user.pk), f"memberships-{place}-role": role}
        form[f"memberships-{place}-id"] = str(kept.get(user.pk, ""))
        if tick:
            form[f"memberships-{place}-{tick}"] = "on"
    return form


def test_a_project_is_added_with_its_first_owner(world: World, admin_panel: Client) -> None:
    form = {"slug": "road-test", "name": "Road test", "department": str(world.department.pk)}
    answer = admin_panel.post("/admin/organisations/project/add/", form | members(None, (world.alice, "owner", "")))
    assert answer.status_code == 302
    assert list(Membership.objects.filter(project__slug="road-test").values_list("user__username", "role")) == [
        ("alice", "owner")
    ]
    assert audited() == [("ada", "project.added"), ("ada", "membership.added")]


@pytest.mark.parametrize("slug", ["Upper", "9lives", "with space", "-x", "a" * 41, ""])
def test_a_short_name_that_no_namespace_can_have_is_refused(world: World, admin_panel: Client, slug: str) -> None:
    form = {"slug": slug, "name": "x", "department": str(world.department.pk)}
    answer = admin_panel.post("/admin/organisations/project/add/", form | members(None, (world.alice, "owner", "")))
    assert (answer.status_code, audited()) == (200, [])


def test_a_members_role_is_changed_with_before_and_after(world: World, admin_panel: Client) -> None:
    rows = ((world.olga, "owner", ""), (world.alice, "viewer", ""), (world.victor, "viewer", ""))
    form = {"name": "map-team", "department": str(world.department.pk)} | members(world.project, *rows)
    assert admin_panel.post(f"/admin/organisations/project/{world.project.pk}/change/", form).status_code == 302
    event = AuditEvent.objects.get()
    assert (event.action, event.before, event.after) == ("membership.changed", {"role": "member"}, {"role": "viewer"})


@pytest.mark.parametrize(("role", "tick"), [("member", ""), ("owner", "DELETE")])
def test_a_project_keeps_its_last_owner(world: World, admin_panel: Client, role: str, tick: str) -> None:
    rows = ((world.olga, role, tick), (world.alice, "member", ""), (world.victor, "viewer", ""))
    form = {"name": "map-team", "department": str(world.department.pk)} | members(world.project, *rows)
    answer = admin_panel.post(f"/admin/organisations/project/{world.project.pk}/change/", form)
    assert (answer.status_code, audited()) == (200, [])
    assert Membership.objects.get(project=world.project, user=world.olga).role == "owner"


def test_nodes_are_put_into_a_pool_and_taken_out(world: World, admin_panel: Client) -> None:
    node = world.a_node(world.a_cluster(), "gpu-0", pool=None)
    pool = world.a_pool("reserved", project=world.project)
    chosen = {"_selected_action": str(node.pk), "action": "put_into_pool", "pool": str(pool.pk)}
    assert admin_panel.post("/admin/clusters/node/", chosen).status_code == 302
    assert Node.objects.get().pool == pool
    admin_panel.post("/admin/clusters/node/", chosen | {"action": "take_out"})
    assert (Node.objects.get().pool, audited()) == (None, [("ada", "node.pool_set")] * 2)


@pytest.mark.parametrize("pool", ["", "999", "x", "-1"])
def test_an_action_without_a_pool_changes_nothing(world: World, admin_panel: Client, pool: str) -> None:
    node = world.a_node(world.a_cluster(), "gpu-0", pool=world.a_pool())
    chosen = {"_selected_action": str(node.pk), "action": "put_into_pool", "pool": pool}
    admin_panel.post("/admin/clusters/node/", chosen)
    assert (Node.objects.get().pool, audited()) == (node.pool, [])


CLUSTER = {
    "name": "shanghai",
    "server": "https://10.0.0.1:6443",
    "namespace_prefix": "platform",
    "enabled": "on",
    "profile": "{}",
    "token": "sealed-bearer",
    "ca": "",
    "verify": "on",
    "shipper_token": "shipper-of-shanghai",
}


def test_a_cluster_is_added_with_its_credentials_sealed_and_shown_nowhere(world: World, admin_panel: Client) -> None:
    assert admin_panel.post("/admin/clusters/cluster/add/", CLUSTER).status_code == 302
    cluster = Cluster.objects.get()
    assert sealing.unseal_credentials(cluster.credentials).token == "sealed-bearer"
    assert shipper_cluster("Bearer shipper-of-shanghai") == cluster
    written = str(list(AuditEvent.objects.values()))
    page = admin_panel.get(f"/admin/clusters/cluster/{cluster.pk}/change/").content.decode()
    assert not [secret for secret in ("sealed-bearer", "shipper-of-shanghai") if secret in written + page]
    assert audited() == [("ada", "cluster.added"), ("ada", "cluster.configured")]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"server": "ftp://x"}, "server"),
        ({"token": ""}, "token"),
        ({"ca": "junk"}, "ca"),
        ({"profile": '{"pre_stop_seconds": "x"}'}, "profile"),
        ({"profile": "{"}, "profile"),
        ({"name": "Bad Name"}, "__all__"),
        ({"shipper_token": "short"}, "shipper_token"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_at_the_field(
    world: World, admin_panel: Client, changes: dict[str, str], field: str
) -> None:
    answer = admin_panel.post("/admin/clusters/cluster/add/", CLUSTER | changes)
    assert (answer.status_code, Cluster.objects.count()) == (200, 0)
    assert field in answer.context["adminform"].form.errors


def test_a_cluster_keeps_its_credentials_when_none_are_typed(world: World, admin_panel: Client) -> None:
    admin_panel.post("/admin/clusters/cluster/add/", CLUSTER)
    before = Cluster.objects.get()
    unchanged = CLUSTER | {"token": "", "shipper_token": "", "profile": '{"pre_stop_seconds": 5}'}
    assert admin_panel.post(f"/admin/clusters/cluster/{before.pk}/change/", unchanged).status_code == 302
    after = Cluster.objects.get()
    assert (bytes(after.credentials), after.ingest_digest) == (bytes(before.credentials), before.ingest_digest)
    assert after.profile == {"pre_stop_seconds": 5}


def test_a_pool_follows_its_constraints_at_the_form(world: World, admin_panel: Client) -> None:
    answer = admin_panel.post("/admin/clusters/pool/add/", {"name": "odd", "kind": "public", "lend_idle": "on"})
    assert (answer.status_code, Pool.objects.count(), audited()) == (200, 0, [])
    assert admin_panel.post("/admin/clusters/pool/add/", {"name": "even", "kind": "public"}).status_code == 302
    assert audited() == [("ada", "pool.added")]


def test_a_price_is_changed_in_the_list(world: World, admin_panel: Client) -> None:
    mark = world.a_mark()
    form = {
        "form-TOTAL_FORMS": "1",
        "form-INITIAL_FORMS": "1",
        "form-0-id": str(mark.pk),
        "form-0-price_per_card_hour": "7",
    }
    assert admin_panel.post("/admin/clusters/acceleratortype/", form | {"_save": "Save"}).status_code == 302
    event = AuditEvent.objects.get()
    assert (AcceleratorType.objects.get().price_per_card_hour, event.before, event.after) == (
        7,
        {"price_per_card_hour": 0},
        {"price_per_card_hour": 7},
    )


def test_a_token_is_revoked_and_never_shown(world: World, admin_panel: Client) -> None:
    token, text = accounts.issue_token(world.alice, name="ci", scopes=["tasks:read"], by=world.alice, now=world.now)
    AuditEvent.objects.all().delete()
    chosen = {"_selected_action": str(token.pk), "action": "revoke"}
    assert admin_panel.post("/admin/accounts/apitoken/", chosen).status_code == 302
    assert (ApiToken.objects.get().revoked_at is not None, audited()) == (True, [("ada", "token.revoked")])
    page = admin_panel.get(f"/admin/accounts/apitoken/{token.pk}/change/").content.decode()
    assert not [secret for secret in (text, token.digest) if secret in page]


def test_a_new_password_is_set_audited_and_not_recorded(world: World, admin_panel: Client) -> None:
    form: dict[str, Any] = {
        "password1": "tall-green-giraffe-7",
        "password2": "tall-green-giraffe-7",
        "usable_password": "true",
    }
    answer = admin_panel.post(f"/admin/accounts/user/{world.alice.pk}/password/", form)
    assert answer.status_code == 302
    world.alice.refresh_from_db()
    assert world.alice.check_password("tall-green-giraffe-7")
    assert audited() == [("ada", "user.password_set")]
    assert "giraffe" not in str(list(AuditEvent.objects.values()))


def test_people_are_locked_out_not_deleted(world: World, admin_panel: Client) -> None:
    place = f"/admin/accounts/user/{world.charlie.pk}/"
    assert admin_panel.post(f"{place}delete/", {"post": "yes"}).status_code == 403
    form = {"username": "charlie", "theme": "auto", "is_active": ""}
    assert admin_panel.post(f"{place}change/", form).status_code == 302
    assert (User.objects.get(pk=world.charlie.pk).is_active, audited()) == (False, [("ada", "user.changed")])


def test_the_audit_cannot_be_changed(world: World, admin_panel: Client) -> None:
    world.a_quota("cpu", 1, project=world.project)
    admin_panel.post("/admin/clusters/pool/add/", {"name": "even", "kind": "public"})
    event = AuditEvent.objects.get()
    for what in ("change/", "delete/"):
        assert admin_panel.post(f"/admin/audit/auditevent/{event.pk}/{what}", {"post": "yes"}).status_code == 403
