"""The platform on a real control plane with simulated nodes: real controllers, real scheduler, pods by kwok."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from devkube.real.control_plane import ControlPlane
from devkube.real.simulated_nodes import SimulatedNodes
from tests.support.kubernetes import container_node, http, nodes, plane, tools
from tests.support.site import Site, account_token, site_on
from tests.support.world import World

__all__ = ["container_node", "http", "nodes", "plane", "tools"]
NODES = ("gpu-0", "gpu-1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/kubernetes" in str(item.path):
            item.add_marker(pytest.mark.kubernetes)
            item.add_marker(pytest.mark.xdist_group("kubernetes"))
            item.add_marker(pytest.mark.django_db(transaction=True))
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture(scope="session")
def machines(nodes: SimulatedNodes) -> SimulatedNodes:
    """Two machines of eight 4090 cards in the public pool."""
    for name in NODES:
        nodes.add(name, cards=8, mark="rtx-4090", cpu=176, memory_gib=860)
    return nodes


@pytest.fixture(scope="session")
def account(http: httpx.Client) -> str:
    """The platform's own account: the whole suite runs with the rights of deploy/rbac and no others."""
    return account_token(http)


@pytest.fixture
def site(
    transactional_db: None,
    world: World,
    plane: ControlPlane,
    machines: SimulatedNodes,
    http: httpx.Client,
    account: str,
) -> Iterator[Site]:
    """The platform with nothing of an earlier case on the cluster: every case has namespaces of its own."""
    yield from site_of(plane, world, http, account)


def site_of(plane: ControlPlane, world: World, http: httpx.Client, account: str) -> Iterator[Site]:
    """The platform on this plane; at the end its namespace is removed."""
    with site_on(plane, world, http, token=account) as made:
        yield made
        http.delete(f"/api/v1/namespaces/{made.namespace}")
