"""How each depth of cluster is started, and the few things that only its owner can do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import ClusterGateway, ObjectRef, Resource
from devkube.embedded.process import EmbeddedCluster
from tests.contract.cases import NAMESPACE, job, namespace

SHORT_HISTORY = 60
CLEARED = (Resource.JOB, Resource.DEPLOYMENT, Resource.POD)


@dataclass(frozen=True)
class Depth:
    """A running cluster: its gateway, and how to make it forget its watch history."""

    gateway: ClusterGateway
    forget_history: Callable[[], None]


Start = Callable[[], AbstractContextManager[Depth]]


@contextmanager
def memory() -> Iterator[Depth]:
    gateway = MemoryGateway()
    yield Depth(gateway, gateway.compact)


@contextmanager
def embedded() -> Iterator[Depth]:
    with EmbeddedCluster("contract", extra=("--history", str(SHORT_HISTORY))) as cluster:
        gateway = KubeGateway(Client(Access(cluster.url, cluster.token), seconds=10))

        def churn() -> None:
            gateway.create(Resource.JOB, job("churn", task="churn"))
            for number in range(SHORT_HISTORY + 2):
                patch = {"metadata": {"annotations": {"turn": str(number)}}}
                gateway.merge(ObjectRef(Resource.JOB, "churn", NAMESPACE), patch)

        yield Depth(gateway, churn)


def clear(gateway: ClusterGateway, space: str) -> None:
    """Remove what a case made, so that the next one finds an empty namespace."""
    for resource in CLEARED:
        for item in gateway.list(resource, namespace=space).items:
            gateway.delete(ObjectRef(resource, item["metadata"]["name"], space), grace_seconds=0)
    gateway.delete(ObjectRef(Resource.NODE, "n1"))


def terminating_namespace(gateway: ClusterGateway) -> str:
    """A namespace under removal that an object with a finalizer keeps from going."""
    held = job("held", space="ending")
    held["metadata"]["finalizers"] = ["platform/hold"]
    gateway.create(Resource.NAMESPACE, namespace("ending"))
    gateway.create(Resource.JOB, held)
    gateway.delete(ObjectRef(Resource.NAMESPACE, "ending"))
    return "ending"
