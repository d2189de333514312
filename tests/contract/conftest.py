"""The depths of cluster that the contract runs on; another depth is one more entry in DEPTHS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from apps.clusters.gateway.port import ClusterGateway, Resource
from tests.contract import depths
from tests.contract.cases import NAMESPACE, namespace, node
from tests.contract.waiting import until

DEPTHS: dict[str, depths.Start] = {"memory": depths.memory, "embedded": depths.embedded, "real": depths.real}
ON_REAL = (pytest.mark.kubernetes, pytest.mark.xdist_group("contract-real"))


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[[str], depths.Depth]]:
    """Starts each depth once, when a case first asks for it."""
    with ExitStack() as stack:
        running: dict[str, depths.Depth] = {}

        def start(name: str) -> depths.Depth:
            if name not in running:
                running[name] = stack.enter_context(DEPTHS[name]())
            return running[name]

        yield start


@pytest.fixture(params=[pytest.param(name, marks=ON_REAL if name == "real" else ()) for name in DEPTHS])
def depth(request: pytest.FixtureRequest, started: Callable[[str], depths.Depth]) -> Iterator[depths.Depth]:
    """One depth with an empty contract namespace."""
    chosen = started(request.param)
    chosen.gateway.create(Resource.NAMESPACE, namespace(NAMESPACE))
    yield chosen
    depths.clear(chosen, NAMESPACE)


@pytest.fixture
def gateway(depth: depths.Depth) -> ClusterGateway:
    return depth.gateway


@pytest.fixture
def server(depth: depths.Depth) -> depths.Server:
    """What only a cluster behind HTTP has; the cases that need it say so by asking for it."""
    if depth.server is None:
        pytest.skip("the cluster in memory is not spoken to over HTTP")
    return depth.server


@pytest.fixture
def forget_history(depth: depths.Depth) -> Callable[[], None]:
    return depth.forget_history


@pytest.fixture
def terminating(depth: depths.Depth) -> str:
    """A namespace that is being removed and not gone yet."""
    return depths.terminating_namespace(depth.gateway)


@pytest.fixture
def made_node(gateway: ClusterGateway) -> str:
    gateway.create(Resource.NODE, node("n1"))
    return "n1"


@pytest.fixture
def service_account(depth: depths.Depth) -> None:
    """Where a controller makes a namespace's service account, no pod is taken before it is there."""
    server = depth.server
    if server is not None and server.service_accounts:
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        until(lambda: server.http.get(path).status_code == 200)
