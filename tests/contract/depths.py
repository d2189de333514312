"""How each depth of cluster is started, and the few things that only its owner can do to it."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import httpx

from apps.clusters.gateway.kube.adapter import KubeGateway
from apps.clusters.gateway.kube.client import Access, Client
from apps.clusters.gateway.memory import MemoryGateway
from apps.clusters.gateway.port import ClusterGateway, Gone, ObjectRef, Rejected, Resource
from devkube.children import free_port
from devkube.embedded.process import EmbeddedCluster
from devkube.real.control_plane import PROGRAMS, ControlPlane
from devkube.real.credentials import User
from tests.contract.cases import NAMESPACE, job, namespace
from tests.contract.machines import beside, played_by_agent
from tests.support.kubernetes import built

SHORT_HISTORY = 60
CLEARED = (Resource.JOB, Resource.DEPLOYMENT, Resource.POD, Resource.SERVICE, Resource.PERSISTENT_VOLUME_CLAIM)
CLEARED_PATHS = ("resourcequotas", "configmaps")
HELD_BACK = {"metadata": {"finalizers": None}}
CLEAR_SECONDS = 20.0


@dataclass(frozen=True)
class Server:
    """A cluster that is spoken to over HTTP, for what its owner does past the port: quotas, budgets, raw pages."""

    http: httpx.Client
    access: Access
    machine: Callable[[], AbstractContextManager[None]]
    """A node that runs commands, for as long as it is asked for."""
    powerless: Access | None = None
    """An account without any right, where the cluster has more accounts than one."""
    service_accounts: bool = False
    """Whether no pod is taken in a namespace before its service account was made."""


@dataclass(frozen=True)
class Depth:
    """A running cluster, and what only its owner can do to it.

    ``impatient`` waits a second for an answer. ``hung`` lets the server take calls and say nothing; ``restart`` breaks
    off whatever is open; ``step`` lets controllers do their work where they do not work by themselves.
    """

    gateway: ClusterGateway
    impatient: ClusterGateway
    forget_history: Callable[[], None]
    hung: Callable[[], AbstractContextManager[None]]
    restart: Callable[[], None]
    step: Callable[[], None] = lambda: None
    server: Server | None = None


Start = Callable[[], AbstractContextManager[Depth]]


@contextmanager
def memory() -> Iterator[Depth]:
    gateway = MemoryGateway()

    @contextmanager
    def hung() -> Iterator[None]:
        gateway.go_dead()
        yield
        gateway.revive()

    def restart() -> None:
        with hung():
            time.sleep(0.1)

    yield Depth(gateway, gateway, gateway.compact, hung, restart, gateway.finish_terminating)


def gateway_of(access: Access, *, seconds: float = 10) -> KubeGateway:
    return KubeGateway(Client(access, seconds=seconds))


@contextmanager
def embedded() -> Iterator[Depth]:
    with (
        tempfile.TemporaryDirectory(prefix="contract-") as folder,
        EmbeddedCluster("contract", folder, port=free_port(), extra=("--history", str(SHORT_HISTORY))) as cluster,
    ):
        access = Access(cluster.url, cluster.token)
        gateway = gateway_of(access)

        def churn() -> None:
            gateway.create(Resource.JOB, job("churn", task="churn"))
            for number in range(SHORT_HISTORY + 2):
                patch = {"metadata": {"annotations": {"turn": str(number)}}}
                gateway.merge(ObjectRef(Resource.JOB, "churn", NAMESPACE), patch)

        @contextmanager
        def hung() -> Iterator[None]:
            assert cluster.process is not None
            cluster.process.send_signal(signal.SIGSTOP)
            yield
            cluster.process.send_signal(signal.SIGCONT)

        def restart() -> None:
            cluster.kill()
            cluster.start()

        headers = {"Authorization": f"Bearer {cluster.token}"}
        with httpx.Client(base_url=cluster.url, headers=headers, timeout=30, trust_env=False) as http:
            impatient = gateway_of(access, seconds=1)
            server = Server(http, access, partial(played_by_agent, cluster.url, cluster.token))
            yield Depth(gateway, impatient, churn, hung, restart, server=server)


@contextmanager
def real() -> Iterator[Depth]:
    """A control plane of its own, since cases restart its API server."""
    powerless = User("powerless")
    with ControlPlane("contract", toolbox=built(PROGRAMS), users=[powerless]) as plane, plane.client() as http:
        access = Access(plane.url, plane.token, plane.ca.read_text())
        nobody = replace(access, token=powerless.token)
        yield Depth(
            gateway_of(access),
            gateway_of(access, seconds=1),
            plane.forget_history,
            plane.hung_apiserver,
            plane.restart_apiserver,
            server=Server(http, access, partial(beside, plane), nobody, service_accounts=True),
        )


def clear(depth: Depth, space: str) -> None:
    """Remove what a case made, so that the next one finds an empty namespace."""
    deadline = time.monotonic() + CLEAR_SECONDS
    if depth.server:
        for plural in CLEARED_PATHS:
            depth.server.http.delete(f"/api/v1/namespaces/{space}/{plural}").raise_for_status()
    while left := [*_left(depth.gateway, space)]:
        assert time.monotonic() < deadline, f"cannot be cleared: {left}"
        for ref in left:
            _remove(depth.gateway, ref)
    depth.gateway.delete(ObjectRef(Resource.NODE, "n1"))


def _left(gateway: ClusterGateway, space: str) -> Iterator[ObjectRef]:
    for resource in CLEARED:
        for item in gateway.list(resource, namespace=space).items:
            yield ObjectRef(resource, item["metadata"]["name"], space)


def _remove(gateway: ClusterGateway, ref: ObjectRef) -> None:
    gateway.delete(ref, grace_seconds=0)
    try:
        gateway.merge(ref, HELD_BACK)
    except (Gone, Rejected):
        return  # it went meanwhile


def terminating_namespace(gateway: ClusterGateway) -> str:
    """A namespace under removal that an object with a finalizer keeps from going."""
    standing = gateway.read(ObjectRef(Resource.NAMESPACE, "ending"))
    if standing is not None:
        return "ending"
    held = job("held", space="ending")
    held["metadata"]["finalizers"] = ["platform/hold"]
    gateway.create(Resource.NAMESPACE, namespace("ending"))
    gateway.create(Resource.JOB, held)
    gateway.delete(ObjectRef(Resource.NAMESPACE, "ending"))
    return "ending"
