"""Adding clusters, changing how to sign in, what a check leaves behind; secrets stay sealed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pytest_django.fixtures import Settings

from apps.audit.models import AuditEvent
from apps.clusters import sealing, services
from apps.clusters.gateway import registry
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import Forbidden, Resource, Transient
from apps.clusters.models import Cluster
from apps.kernel.errors import Refused
from tests.services.gateway.serving import Answer, serving
from tests.support.world import World

SECRET = "s3cret-token"


def added(world: World, name: str = "beijing", **changes: Any) -> Cluster:
    values: dict[str, Any] = {"server": "https://10.0.0.1:6443", "token": SECRET}
    return services.add_cluster(name, **(values | changes), by=world.ada, now=world.now)


def test_a_secret_opens_with_an_older_key_until_that_is_dropped(settings: Settings) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.SEALING_KEYS = [old]
    sealed = sealing.seal("text")
    settings.SEALING_KEYS = [new, old]
    renewed = sealing.reseal(sealed)
    opened = sealing.unseal(sealed)
    settings.SEALING_KEYS = [new]
    assert (opened, sealing.unseal(renewed)) == ("text", "text")
    with pytest.raises(sealing.SealBroken):
        sealing.unseal(sealed)


def test_an_added_cluster_keeps_its_token_in_the_seal_alone(world: World) -> None:
    cluster = Cluster.objects.get(pk=added(world).pk)
    audit = AuditEvent.objects.get(action="cluster.added")
    everywhere = f"{cluster.__dict__} {audit.__dict__} {sealing.unseal_credentials(cluster.credentials)!r}"
    assert (SECRET in everywhere, sealing.unseal_credentials(cluster.credentials).token) == (False, SECRET)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": "Bad_Name"}),
        ("name", {"name": "beijing"}),
        ("server", {"server": "ftp://x"}),
        ("server", {"server": "https://user:pw@x"}),
        ("server", {"server": "https://"}),
        ("token", {"token": ""}),
        ("token", {"token": "two words"}),
        ("token", {"token": "line\r\nHost: x"}),
        ("ca", {"ca": "not pem"}),
        ("profile", {"profile": {"scheduler_name": 5}}),
    ],
)
def test_what_cannot_be_a_cluster_is_refused_at_its_field(world: World, field: str, changes: dict[str, Any]) -> None:
    added(world)
    with pytest.raises(Refused) as refused:
        added(world, **({"name": "second"} | changes))
    assert (list(refused.value.refusal.fields), Cluster.objects.count()) == ([field], 1)


def test_a_changed_credential_is_used_from_the_next_call_on(world: World) -> None:
    with serving(Answer(body=b"{}")) as served:
        cluster = added(world, server=served.url, token="first")
        registry.gateway_for(cluster).facts()
        same = registry.gateway_for(cluster) is registry.gateway_for(Cluster.objects.get(pk=cluster.pk))
        later = world.now + timedelta(hours=1)
        services.rotate_credentials(cluster, server=served.url, token="second", by=world.ada, now=later)
        registry.gateway_for(Cluster.objects.get(pk=cluster.pk)).facts()
    tokens = [request[2]["Authorization"] for request in served.requests if request[1] == "/version"]
    assert (same, tokens) == (True, ["Bearer first", "Bearer second"])


def test_f19_a_cluster_added_again_under_the_same_name_is_another(world: World) -> None:
    first = added(world)
    gateway = registry.gateway_for(first)
    Cluster.objects.filter(pk=first.pk).delete()
    assert registry.gateway_for(added(world)) is not gateway


def test_a_cluster_whose_seal_is_broken_is_forbidden_and_says_so(world: World) -> None:
    broken = world.a_cluster("broken")
    with pytest.raises(Forbidden, match="no usable credentials for cluster broken"):
        registry.gateway_for(broken)
    assert services.check(broken, now=world.now) is False
    assert "no usable credentials" in Cluster.objects.get(pk=broken.pk).last_error


def test_a_check_writes_what_the_cluster_is_and_installs_the_priority_classes(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway(version="v1.37.2")
    with registry.bound(cluster, gateway):
        checked = [services.check_by_key(cluster.pk, now=world.now) for _twice in range(2)]
    row = Cluster.objects.get(pk=cluster.pk)
    classes = {
        item["metadata"]["name"]: (item["value"], item["preemptionPolicy"])
        for item in gateway.everything(Resource.PRIORITY_CLASS)
    }
    assert (checked, row.version, row.last_contact_at) == ([True, True], "v1.37.2", world.now)
    assert classes == {
        "platform-high": (1000, "Never"),
        "platform-normal": (1000, "PreemptLowerPriority"),
        "platform-low": (500, "Never"),
    }


def test_silence_is_dated_from_its_beginning_and_ends_with_the_next_answer(world: World) -> None:
    cluster, gateway = world.a_cluster(), MemoryGateway()
    with registry.bound(cluster, gateway):
        gateway.go_dead(Transient("no answer"))
        for minute in range(3):
            services.check(cluster, now=world.now + timedelta(minutes=minute))
        silent = Cluster.objects.get(pk=cluster.pk)
        gateway.revive()
        services.check(cluster, now=world.now + timedelta(minutes=9))
    back = Cluster.objects.get(pk=cluster.pk)
    assert (silent.unreachable_since, silent.last_error) == (world.now, "no answer")
    assert (back.unreachable_since, back.last_error) == (None, "")


def test_each_cluster_is_checked_by_a_message_of_its_own(world: World) -> None:
    pks = [world.a_cluster("a").pk, world.a_cluster("b").pk]
    assert (services.cluster_keys(), services.check_by_key(0, now=world.now)) == (pks, False)
