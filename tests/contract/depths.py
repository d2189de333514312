"""How each depth of cluster is started for one test, and the few things that only its owner can do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import ClusterGateway, ObjectRef, Resource
from tests.contract.cases import namespace


@dataclass(frozen=True)
class Depth:
    """A running cluster: its gateway, how to make it forget its watch history, how to get a namespace under removal."""

    gateway: ClusterGateway
    forget_history: Callable[[], None]
    terminating_namespace: Callable[[], str]


@contextmanager
def memory() -> Iterator[Depth]:
    gateway = MemoryGateway()

    def terminating() -> str:
        gateway.create(Resource.NAMESPACE, namespace("ending"))
        gateway.delete(ObjectRef(Resource.NAMESPACE, "ending"))
        return "ending"

    yield Depth(gateway, gateway.compact, terminating)
