"""A cluster of its own process, a namespace per test, and nodes that a thread plays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import httpx
import pytest
from kubernetes import client

from devkube.embedded.process import EmbeddedCluster
from tests.devkube.embedded.kit import FakeKubelet, Kube

FAST = ("--job-backoff", "0.2", "--bookmark-seconds", "0.4", "--history", "400")
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster("tests", extra=FAST) as running:
        yield running


@pytest.fixture(scope="session")
def http(cluster: EmbeddedCluster) -> Iterator[httpx.Client]:
    with Kube.client(cluster) as session:
        yield session


@pytest.fixture(scope="session")
def official(cluster: EmbeddedCluster) -> Iterator[client.ApiClient]:
    settings = client.Configuration(host=cluster.url)
    settings.api_key = {"authorization": f"Bearer {cluster.token}"}
    with client.ApiClient(settings) as made:
        yield made


@pytest.fixture
def kube(http: httpx.Client) -> Iterator[Kube]:
    """A namespace of the test's own."""
    made = Kube(http, f"space-{next(_numbers)}")
    made.post("/api/v1/namespaces", {"metadata": {"name": made.space}})
    yield made
    made.remove(f"/api/v1/namespaces/{made.space}")


@pytest.fixture(scope="session")
def kubelet(cluster: EmbeddedCluster) -> Iterator[FakeKubelet]:
    """A node `n1` of 8 cores and 4 cards that runs what it is given."""
    with Kube.client(cluster) as session, FakeKubelet(session, ["n1"]) as playing:
        yield playing


@pytest.fixture(scope="module")
def empty() -> Iterator[httpx.Client]:
    with EmbeddedCluster("alone", extra=FAST) as running, Kube.client(running) as session:
        yield session


@pytest.fixture
def alone(empty: httpx.Client) -> Iterator[tuple[Kube, httpx.Client]]:
    """A cluster without nodes and pods, for tests that count nodes."""
    kube = Kube(empty, "default")
    yield kube, empty
    for plural in ("pods", "events"):
        kube.remove(kube.path(plural), {"gracePeriodSeconds": 0})
    empty.delete("/api/v1/nodes")
