"""The real Kubernetes in tests: fixtures that skip with a reason where it is not built, or fail where it must be.

    pytestmark = pytest.mark.kubernetes
    from tests.support.kubernetes import plane, tools  # noqa: F401 - fixtures

KUBERNETES_REQUIRED=1 turns every such skip into a failure, so that CI never passes by leaving things out.
DEVKUBE_KUBE=1.34 takes the programs of another minor.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import httpx
import pytest

from devkube.real.container_node import ContainerNode, obstacle
from devkube.real.control_plane import PROGRAMS, ControlPlane
from devkube.real.simulated_nodes import KWOK, SimulatedNodes
from devkube.real.tools import Toolbox, ToolsMissingError

Obj = dict[str, Any]
T = TypeVar("T")


def leave_out(reason: str) -> NoReturn:
    """Skip, or fail where the real Kubernetes is required."""
    if os.environ.get("KUBERNETES_REQUIRED") == "1":
        pytest.fail(f"KUBERNETES_REQUIRED=1, but {reason}", pytrace=False)
    pytest.skip(f"real Kubernetes left out: {reason}")


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    """The built programs of a control plane."""
    return built(PROGRAMS)


def built(names: Sequence[str]) -> Toolbox:
    """The toolbox, when it has these programs."""
    box = Toolbox()
    try:
        box.require(names)
    except ToolsMissingError as error:
        leave_out(str(error))
    return box


@pytest.fixture(scope="session")
def plane(tools: Toolbox) -> Iterator[ControlPlane]:
    """One control plane for the whole run of this worker; every test takes a namespace of its own."""
    with ControlPlane("tests", toolbox=tools) as running:
        yield running


@pytest.fixture(scope="session")
def http(plane: ControlPlane) -> Iterator[httpx.Client]:
    """The admin's HTTP client of it."""
    with plane.client() as client:
        yield client


@pytest.fixture(scope="session")
def nodes(plane: ControlPlane) -> Iterator[SimulatedNodes]:
    """kwok beside it; no node is there before a test adds it."""
    built([KWOK])
    with SimulatedNodes(plane) as running:
        yield running


@pytest.fixture(scope="session")
def container_node(plane: ControlPlane) -> Iterator[ContainerNode]:
    """A node of 4 cards on it that runs real containers; pods choose it by the label `platform/mark: container`."""
    if reason := obstacle(plane.toolbox):
        leave_out(reason)
    with ContainerNode(plane, cards=4, labels={"platform/mark": "container", "platform/pool": "public"}) as running:
        yield running


def a_namespace(http: httpx.Client, name: str) -> str:
    """Make a namespace and wait until pods can be made in it."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    http.post("/api/v1/namespaces", json=body).raise_for_status()
    until(lambda: http.get(f"/api/v1/namespaces/{name}/serviceaccounts/default").status_code == 200)
    return name


def until(ask: Callable[[], T], seconds: float = 30.0) -> T:
    """The first true answer; fails after `seconds` with the last one."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, f"it did not happen in {seconds:.0f} s; the last answer was {answer!r}"
        time.sleep(0.05)
    return answer
