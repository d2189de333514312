"""The depths of cluster that the contract runs on; another depth is one more entry in DEPTHS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from apps.clusters.gateway.port import ClusterGateway, Resource
from tests.contract import depths
from tests.contract.cases import NAMESPACE, namespace, node

DEPTHS: dict[str, Callable[[], AbstractContextManager[depths.Depth]]] = {
    "memory": depths.memory,
}


@pytest.fixture(params=sorted(DEPTHS))
def depth(request: pytest.FixtureRequest) -> Iterator[depths.Depth]:
    with DEPTHS[request.param]() as started:
        yield started


@pytest.fixture
def gateway(depth: depths.Depth) -> ClusterGateway:
    depth.gateway.create(Resource.NAMESPACE, namespace(NAMESPACE))
    return depth.gateway


@pytest.fixture
def forget_history(depth: depths.Depth) -> Callable[[], None]:
    return depth.forget_history


@pytest.fixture
def terminating(gateway: ClusterGateway, depth: depths.Depth) -> str:
    """A namespace that is being removed and not gone yet."""
    return depth.terminating_namespace()


@pytest.fixture
def made_node(gateway: ClusterGateway) -> str:
    gateway.create(Resource.NODE, node("n1"))
    return "n1"
