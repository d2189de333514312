"""Every kind of object that the platform touches, through every verb of the port; and what a check asks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from apps.clusters.domain.survey import Failure
from apps.clusters.gateway.port import ClusterGateway, ObjectRef, Resource
from tests.contract.cases import NAMESPACE, job
from tests.contract.created import CREATED, MADE, as_created
from tests.contract.depths import Depth, Server, gateway_of
from tests.contract.waiting import gone, settled, until


def test_every_kind_of_the_port_is_tried() -> None:
    assert set(MADE) == set(Resource)


@pytest.mark.parametrize("resource", MADE, ids=lambda resource: resource.name.lower())
def test_every_kind_is_made_read_listed_changed_replaced_and_taken_away(
    gateway: ClusterGateway, resource: Resource, service_account: None
) -> None:
    made = MADE[resource]
    ref = ObjectRef(resource, "kinds", made["metadata"].get("namespace", ""))
    uid = gateway.create(resource, made)["metadata"]["uid"]
    gateway.merge(ref, {"metadata": {"labels": {"kinds": "merged"}}})
    seen = settled(gateway, ref)
    listed = gateway.list(resource, namespace=ref.namespace, selector={"kinds": "merged"}).items
    relabelled = {**seen["metadata"], "labels": {**seen["metadata"]["labels"], "kinds": "replaced"}}
    replaced = gateway.replace(ref, {**seen, "metadata": relabelled})
    gateway.delete(ref, uid=uid, grace_seconds=0)
    assert [item["metadata"]["uid"] for item in listed] == [replaced["metadata"]["uid"]] == [uid]
    assert replaced["metadata"]["labels"]["kinds"] == "replaced"


@pytest.mark.parametrize("resource", MADE, ids=lambda resource: resource.name.lower())
def test_every_kind_is_gone_after_it_was_taken_away(gateway: ClusterGateway, depth: Depth, resource: Resource) -> None:
    ref = ObjectRef(resource, "kinds", MADE[resource]["metadata"].get("namespace", ""))

    def away() -> bool:
        depth.step()
        return gone(gateway, ref)

    until(away)


def test_a_namespaced_kind_is_listed_in_its_namespace_or_over_all(gateway: ClusterGateway) -> None:
    gateway.create(Resource.JOB, job("a"))
    pages = [gateway.list(Resource.JOB, namespace=space) for space in (NAMESPACE, "", "default")]
    assert [any(item["metadata"]["name"] == "a" for item in page.items) for page in pages] == [True, True, False]


def test_a_check_finds_version_groups_and_no_missing_right(gateway: ClusterGateway) -> None:
    found = gateway.survey()
    assert not isinstance(found.version, Failure)
    assert not isinstance(found.denied, Failure)
    assert not isinstance(found.groups, Failure)
    assert (str(found.version)[:2], list(found.denied or ()), found.reached) == ("v1", [], None)
    assert {"v1", "apps/v1", "batch/v1"} <= set(found.groups or ())


def test_what_a_check_finds_wrong_is_a_value_and_no_error(server: Server) -> None:
    stranger = gateway_of(replace(server.access, token="wrong")).survey()
    assert isinstance(stranger.groups, Failure) or isinstance(stranger.version, Failure)


@pytest.mark.parametrize("resource", MADE, ids=lambda resource: resource.name.lower())
def test_an_object_comes_back_from_its_making_as_from_the_real_control_plane(
    gateway: ClusterGateway, server: Server, service_account: None, resource: Resource
) -> None:
    until(lambda: gone(gateway, ObjectRef(resource, "kinds", MADE[resource]["metadata"].get("namespace", ""))))
    made = gateway.create(resource, MADE[resource], dry_run=True)
    assert as_created(made, service_accounts=server.service_accounts) == json.loads(CREATED.read_text())[resource.name]
