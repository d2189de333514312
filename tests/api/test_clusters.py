"""Adding clusters, rotating their credentials and checking them over REST (issue 4, part 6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.clusters import sealing
from apps.clusters.models import Cluster
from tests.api.conftest import Caller
from tests.domain.clusters.kubeconfigs import TOKEN, a_kubeconfig
from tests.services.clusters.kubernetes_like import VERSION, kubernetes_like
from tests.services.gateway.serving import Answer
from tests.support.world import World

PLACE = "/api/v1/clusters"
KEY: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "add-shanghai"}


def by_kubeconfig(url: str, **changes: Any) -> dict[str, Any]:
    text = a_kubeconfig(cluster={"server": url, "certificate-authority-data": ""})
    return {"name": "shanghai", "kubeconfig": text} | changes


def by_parts(url: str, **changes: Any) -> dict[str, Any]:
    return {"name": "shanghai", "server": url, "token": TOKEN} | changes


@pytest.mark.parametrize("body", [by_kubeconfig, by_parts])
def test_a_cluster_is_added_and_answers_with_its_check_list(world: World, caller: Caller, body: Any) -> None:
    with kubernetes_like() as served:
        answer = caller(world.ada).post(PLACE, body(served.url, namespace_prefix="ours"), format="json")
    told = answer.json()
    cluster = Cluster.objects.get(name="shanghai")
    assert (answer.status_code, answer["Location"], told["namespace_prefix"]) == (201, f"{PLACE}/shanghai", "ours")
    assert (told["version"], told["reachable"], {row["state"] for row in told["checks"]}) == ("v1.37.2", True, {"ok"})
    assert told == caller(world.charlie).get(answer["Location"]).json()
    assert (sealing.unseal_credentials(cluster.credentials).token, TOKEN in answer.content.decode()) == (TOKEN, False)


def test_what_cannot_be_used_is_refused_with_the_rows_and_what_to_do(world: World, caller: Caller) -> None:
    with kubernetes_like({VERSION: Answer(body=b"<html>hello")}) as served:
        answer = caller(world.ada).post(PLACE, by_parts(served.url, anyway=True), format="json", **KEY)
    told = answer.json()
    assert (answer.status_code, answer["Content-Type"], told["code"], told["reason"]) == (
        *(422, "application/problem+json"),
        *("invalid", "unfit"),
    )
    assert (told["checks"][-1]["token"], bool(told["checks"][-1]["command"])) == ("not_kubernetes", True)
    assert ("hello" in told["fields"]["server"][0], Cluster.objects.count()) == (True, 0)


@pytest.mark.parametrize(
    ("reason", "status", "changes"),
    [
        ("exec", 422, {"kubeconfig": a_kubeconfig(user={"exec": {"command": "aws"}})}),
        ("file", 422, {"kubeconfig": a_kubeconfig(cluster={"certificate-authority": "/etc/shadow"})}),
        ("several_contexts", 422, {"kubeconfig": a_kubeconfig(contexts=("a", "b"), current="")}),
        ("unknown_context", 422, {"kubeconfig": a_kubeconfig(), "context": "gone"}),
        ("too_large", 413, {"kubeconfig": "#" * 300_000}),
    ],
)
def test_a_kubeconfig_that_is_not_taken_says_why(
    world: World, caller: Caller, reason: str, status: int, changes: dict[str, Any]
) -> None:
    answer = caller(world.ada).post(PLACE, {"name": "shanghai"} | changes, format="json")
    told = answer.json()
    assert (answer.status_code, told["reason"], len(*told["fields"].values())) == (status, reason, 2)
    assert told.get("contexts", []) == (["a", "b"] if reason == "several_contexts" else told.get("contexts", []))


def test_a_reason_is_told_in_chinese_too(world: World, caller: Caller) -> None:
    body = {"name": "shanghai", "kubeconfig": a_kubeconfig(user={"exec": {"command": "aws"}})}
    told = caller(world.ada).post(PLACE, body, format="json", HTTP_ACCEPT_LANGUAGE="zh-hans").json()
    assert "“ada”" in told["detail"]
    assert not told["detail"].isascii()
    assert "signs in" not in json.dumps(told["fields"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": "Bad_Name"}),
        ("name", {"name": ""}),
        ("server", {"server": ""}),
        ("server", {"server": "http://10.0.0.1"}),
        ("server", {"server": 7}),
        ("token", {"token": ""}),
        ("ca", {"ca": "no pem"}),
        ("kubeconfig", {"kubeconfig": "x"}),
        ("verify", {"verify": "yes"}),
        ("profile", {"profile": {"pre_stop_seconds": "x"}}),
        ("namespace_prefix", {"namespace_prefix": "9"}),
        ("unknown", {"unknown": 1}),
    ],
)
def test_a_wrong_field_is_named(world: World, caller: Caller, field: str, changes: dict[str, Any]) -> None:
    answer = caller(world.ada).post(PLACE, by_parts("http://127.0.0.1:1") | changes, format="json")
    assert (answer.status_code, field in answer.json()["fields"], Cluster.objects.count()) == (422, True, 0)


def test_a_name_that_is_taken_is_refused_before_anybody_is_asked(plant: World, caller: Caller) -> None:
    with kubernetes_like() as served:
        answer = caller(plant.ada).post(PLACE, by_parts(served.url, name="beijing"), format="json")
    assert (answer.status_code, answer.json()["code"], served.requests) == (409, "duplicate_name", [])


def test_a_call_sent_twice_asks_the_cluster_once(world: World, caller: Caller) -> None:
    client = caller(world.ada)
    with kubernetes_like() as served:
        first = client.post(PLACE, by_parts(served.url), format="json", **KEY)
        asked = len(served.requests)
        again = client.post(PLACE, by_parts(served.url), format="json", **KEY)
        assert len(served.requests) == asked
        other = client.post(PLACE, by_parts(served.url, name="x"), format="json", **KEY)
    assert (again.status_code, again["Idempotency-Replayed"], again.json()) == (201, "true", first.json())
    assert (other.json()["code"], Cluster.objects.count()) == ("idempotency_key_reused", 1)


def test_nobody_there_is_taken_only_anyway(world: World, caller: Caller) -> None:
    client, body = caller(world.ada), by_parts("http://127.0.0.1:1")
    refused = client.post(PLACE, body, format="json")
    taken = client.post(PLACE, body | {"anyway": True}, format="json")
    assert (refused.status_code, refused.json()["reason"], taken.status_code) == (422, "unreachable", 201)
    assert (taken.json()["reachable"], [row["token"] for row in taken.json()["checks"]]) == (False, ["refused"])


def test_credentials_are_rotated_and_audited_by_name(plant: World, caller: Caller) -> None:
    with kubernetes_like() as served:
        body = {"server": served.url, "token": "second-token"}
        answer = caller(plant.ada).put(f"{PLACE}/beijing/credentials", body, format="json")
        checked = caller(plant.ada).post(f"{PLACE}/beijing/check")
    row = Cluster.objects.get(name="beijing")
    assert (answer.status_code, checked.status_code, sealing.unseal_credentials(row.credentials).token) == (
        *(200, 200),
        "second-token",
    )
    actions = [event.action for event in AuditEvent.objects.filter(action__startswith="cluster")]
    assert actions == ["cluster.credentials_changed"]
    assert "second-token" not in str(list(AuditEvent.objects.values()))


def test_a_rotation_that_would_lock_us_out_changes_nothing(plant: World, caller: Caller) -> None:
    before = Cluster.objects.values().get()
    with kubernetes_like({VERSION: Answer(401, body=b"{}")}) as served:
        body = {"server": served.url, "token": "wrong"}
        answer = caller(plant.ada).put(f"{PLACE}/beijing/credentials", body, format="json")
    assert (answer.status_code, answer.json()["checks"][-1]["token"]) == (422, "credentials_refused")
    assert Cluster.objects.values().get() == before


def test_a_check_that_finds_nobody_is_an_answer_too(plant: World, caller: Caller) -> None:
    told = caller(plant.ada).post(f"{PLACE}/beijing/check").json()
    assert ([row["token"] for row in told["checks"]], told["reachable"]) == (["credentials_unusable"], False)


@pytest.mark.parametrize("call", ["put credentials", "post check"])
def test_a_cluster_that_is_not_there_is_not_found(world: World, caller: Caller, call: str) -> None:
    method, _space, verb = call.partition(" ")
    answer = getattr(caller(world.ada), method)(f"{PLACE}/nowhere/{verb}", {}, format="json")
    assert answer.status_code == 404
