"""Adding a cluster, rotating its credentials, renewing its check list: whole or not at all, and no secret anywhere."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.clusters import sealing, services
from apps.clusters.domain.checklist_rows import State, from_wire
from apps.clusters.domain.sign_in import SignIn
from apps.clusters.gateway import registry
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import Forbidden, Resource, Transient
from apps.clusters.models import Cluster
from apps.clusters.services import Draft
from apps.kernel.errors import Code, Refused
from tests.services.clusters.kubernetes_like import NODES, VERSION, known_as, kubernetes_like, said
from tests.services.gateway.serving import Answer
from tests.support.world import World

SECRET = "s3cret-token"
NOBODY = "http://127.0.0.1:1"


def a_draft(server: str, name: str = "beijing", **changes: Any) -> Draft:
    return Draft(name, SignIn(server, SECRET), **changes)


def added(world: World, draft: Draft, *, anyway: bool = False) -> Cluster:
    checks = services.look_over(draft, now=world.now)
    services.accept(checks, anyway=anyway)
    return services.add_examined(draft, checks, by=world.ada, now=world.now, source="test")


def test_a_cluster_that_is_well_is_stored_with_its_check_list(world: World) -> None:
    with kubernetes_like() as served:
        cluster = added(world, a_draft(served.url, namespace_prefix="ours"))
    row = Cluster.objects.get(pk=cluster.pk)
    assert (row.version, row.last_contact_at, row.checked_at, row.surveyed_at) == ("v1.37.2", *[world.now] * 3)
    assert (row.namespace_prefix, {check.state for check in from_wire(row.checks)}) == ("ours", {State.OK})


def test_nothing_of_a_secret_is_in_the_row_or_the_audit(world: World) -> None:
    with kubernetes_like({VERSION: Answer(body=SECRET.encode())}) as odd, kubernetes_like() as served:
        with pytest.raises(Refused):
            added(world, a_draft(odd.url))
        cluster = added(world, a_draft(served.url))
        services.rotate_examined(cluster, SignIn(served.url, f"{SECRET}-2"), (), by=world.ada, now=world.now)
    everywhere = str([*Cluster.objects.values(), *AuditEvent.objects.values()])
    assert (SECRET in everywhere, [*AuditEvent.objects.order_by("pk").values_list("action", "source")]) == (
        False,
        [("cluster.added", "test"), ("cluster.credentials_changed", "")],
    )


@pytest.mark.parametrize("changes", [{VERSION: Answer(body=b"<html>")}, {VERSION: said({"code": 401}, 401)}])
def test_a_cluster_at_fault_is_refused_with_its_list_and_not_stored(world: World, changes: dict[str, Answer]) -> None:
    with kubernetes_like(changes) as served, pytest.raises(Refused) as refused:
        added(world, a_draft(served.url), anyway=True)
    refusal = refused.value.refusal
    checks: Any = refusal.numbers["checks"]
    assert (refusal.code, refusal.numbers["reason"], checks[-1]["state"]) == (Code.INVALID, "unfit", "fault")
    assert (list(refusal.fields), Cluster.objects.count(), AuditEvent.objects.count()) == (["server"], 0, 0)


def test_warnings_keep_nobody_out(world: World) -> None:
    with kubernetes_like({NODES: said({"items": []})}) as served:
        assert added(world, a_draft(served.url)).pk


def test_a_cluster_that_nobody_reaches_is_added_only_when_that_is_asked_for(world: World) -> None:
    with pytest.raises(Refused) as refused:
        added(world, a_draft(NOBODY))
    cluster = added(world, a_draft(NOBODY), anyway=True)
    row = Cluster.objects.get(pk=cluster.pk)
    assert refused.value.refusal.numbers["reason"] == "unreachable"
    assert (row.unreachable_since, row.last_contact_at, bool(row.last_error)) == (world.now, None, True)


@pytest.mark.parametrize(
    ("field", "draft"),
    [
        ("name", a_draft(NOBODY, "Bad_Name")),
        ("name", a_draft(NOBODY, "standing")),
        ("namespace_prefix", a_draft(NOBODY, namespace_prefix="9lives")),
        ("namespace_prefix", a_draft(NOBODY, namespace_prefix="p" * 21)),
        ("profile", a_draft(NOBODY, profile={"pre_stop_seconds": "x"})),
        ("server", a_draft("http://10.0.0.1")),
        ("server", a_draft("https://u:p@10.0.0.1")),
        ("token", Draft("beijing", SignIn(NOBODY, "two words"))),
        ("ca", Draft("beijing", SignIn(NOBODY, SECRET, "-----BEGIN CERTIFICATE-----\nx"))),
    ],
)
def test_what_cannot_be_is_refused_before_anybody_is_asked(world: World, field: str, draft: Draft) -> None:
    world.a_cluster("standing")
    with pytest.raises(Refused) as refused:
        services.look_over(draft, now=world.now)
    assert list(refused.value.refusal.fields) == [field]


def test_rotating_is_used_from_the_next_call_on_and_renews_the_list(world: World) -> None:
    with kubernetes_like() as served:
        cluster = added(world, a_draft(NOBODY), anyway=True)
        sign_in = SignIn(served.url, "second")
        later = world.now + timedelta(hours=1)
        checks = services.examine(sign_in, now=later)
        services.rotate_examined(cluster, sign_in, checks, by=world.ada, now=later)
        row = Cluster.objects.get(pk=cluster.pk)
        registry.gateway_for(row).facts()
    assert sealing.unseal_credentials(row.credentials).token == "second"
    assert (row.server, row.unreachable_since, row.checked_at) == (served.url, None, later)
    assert served.requests[-1][2]["Authorization"] == "Bearer second"


def test_another_clusters_credentials_are_noticed_before_its_tasks_are_lost_from_sight(world: World) -> None:
    with kubernetes_like(known_as("one")) as served, kubernetes_like(known_as("two")) as other:
        cluster = added(world, a_draft(served.url))
        sign_in = SignIn(other.url, "second")
        checks = services.examine(sign_in, now=world.now, cluster=cluster)
        with pytest.raises(Refused) as refused:
            services.accept(checks, anyway=False)
        services.accept(checks, anyway=True)
        services.rotate_examined(cluster, sign_in, checks, by=world.ada, now=world.now)
    row = Cluster.objects.get(pk=cluster.pk)
    assert (refused.value.refusal.numbers["reason"], row.identity, row.version) == ("another_cluster", "two", "v1.37.2")


def test_a_cluster_is_not_added_twice_under_two_names(world: World) -> None:
    with kubernetes_like(known_as("one")) as served:
        added(world, a_draft(served.url))
        with pytest.raises(Refused) as refused:
            added(world, a_draft(served.url, "mirror"), anyway=True)
    checks: Any = refused.value.refusal.numbers["checks"]
    assert (checks[-1]["token"], checks[-1]["numbers"]["cluster"]) == ("already_added", "beijing")


def test_a_check_keeps_the_identity_that_it_saw_first(world: World) -> None:
    cluster = services.add_cluster("beijing", server=NOBODY, token=SECRET, by=world.ada, now=world.now)
    found = []
    for hour, uid in enumerate(("one", "two")):
        later = world.now + timedelta(hours=hour)
        with kubernetes_like(known_as(uid)) as served:
            services.rotate_credentials(cluster, server=served.url, token=SECRET, by=world.ada, now=later)
            services.check(cluster, now=later)
        cluster = Cluster.objects.get(pk=cluster.pk)
        found.append((cluster.identity, cluster.checks[-1]["token"]))
    assert found == [("one", "identity"), ("one", "another_cluster")]


def test_a_check_renews_the_costly_rows_seldom_but_at_once_when_asked_or_at_fault(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway()
    gateway.put(Resource.NODE, {"metadata": {"name": "n1"}})

    def checked(minutes: float, **how: Any) -> bool:
        now = world.now + timedelta(minutes=minutes)
        services.check(Cluster.objects.get(pk=cluster.pk), now=now, **how)
        row = Cluster.objects.get(pk=cluster.pk)
        assert (row.checked_at, "nodes" in {check["name"] for check in row.checks}) == (now, True)
        return row.surveyed_at == now

    with registry.bound(cluster, gateway):
        assert [checked(0), checked(0.5), checked(1, full=True), checked(5.9), checked(6)] == [
            True,
            False,
            True,
            False,
            True,
        ]


def test_a_silent_cluster_has_the_one_row_and_all_of_them_again_when_it_is_back(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway()
    names = []
    with registry.bound(cluster, gateway):
        for error in (None, Transient("no answer"), None):
            gateway.go_dead(error) if error else gateway.revive()
            services.check(Cluster.objects.get(pk=cluster.pk), now=world.now)
            names.append({check["name"] for check in Cluster.objects.get(pk=cluster.pk).checks})
    assert (names[1], names[2] == names[0], "right" in names[2]) == ({"api"}, True, True)


def test_a_cluster_that_forbids_its_setting_up_is_reachable_and_says_why(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway()
    gateway.fail_next(Forbidden("may not", 403), call="create", times=1)
    with registry.bound(cluster, gateway):
        done = services.check(cluster, now=world.now)
    row = Cluster.objects.get(pk=cluster.pk)
    assert (done, row.unreachable_since, row.last_error) == (False, None, "may not")


def test_an_unusable_seal_is_a_row_of_the_list(world: World) -> None:
    broken = world.a_cluster("broken")
    assert services.check(broken, now=world.now) is False
    (row,) = from_wire(Cluster.objects.get(pk=broken.pk).checks)
    assert (row.name, row.token) == ("credentials", "credentials_unusable")
