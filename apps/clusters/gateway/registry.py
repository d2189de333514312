"""Which gateway serves a cluster: one per process and row, renewed when its credentials change (F19: keyed by row)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from apps.clusters import sealing
from apps.clusters.domain.survey import Survey
from apps.clusters.gateway.port import ClusterGateway, Forbidden

if TYPE_CHECKING:
    from apps.clusters.gateway.kube.adapter import KubeGateway


class ClusterRow(Protocol):
    """What the registry needs of a Cluster."""

    @property
    def pk(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def credentials(self) -> bytes | memoryview: ...
    @property
    def credentials_changed_at(self) -> datetime | None: ...


_lock = threading.Lock()
_open: dict[int, tuple[datetime | None, ClusterGateway]] = {}
_bound: dict[int, ClusterGateway] = {}


def gateway_for(cluster: ClusterRow) -> ClusterGateway:
    """The cluster's gateway; raises Forbidden when its credentials are missing or cannot be unsealed."""
    with _lock:
        if cluster.pk in _bound:
            return _bound[cluster.pk]
        standing = _open.get(cluster.pk)
        if standing is not None and standing[0] == cluster.credentials_changed_at:
            return standing[1]
        fresh = connected(_credentials(cluster))
        _open[cluster.pk] = (cluster.credentials_changed_at, fresh)
    # The old one is not closed here: another thread may be in the middle of a call on it; it goes with its last user.
    return fresh


def _credentials(cluster: ClusterRow) -> sealing.Credentials:
    try:
        return sealing.unseal_credentials(cluster.credentials)
    except sealing.SealBroken as fault:
        raise Forbidden(f"no usable credentials for cluster {cluster.name}: {fault}") from fault


def connected(credentials: sealing.Credentials) -> KubeGateway:
    """A gateway that signs in like this, belonging to no cluster yet; raises Forbidden for an unusable certificate."""
    # Loading the client library takes more than a second; web pages and commands that call no cluster do without.
    from apps.clusters.gateway.kube.adapter import KubeGateway  # noqa: PLC0415 - see above
    from apps.clusters.gateway.kube.client import Access, Client  # noqa: PLC0415 - see above

    access = Access(**{name: getattr(credentials, name) for name in credentials.__struct_fields__})
    return KubeGateway(Client(access, seconds=settings.CLUSTER_TIMEOUT_SECONDS))


def survey_of(credentials: sealing.Credentials) -> Survey:
    """What signing in like this finds out; nothing stays open. Raises Forbidden for an unusable certificate."""
    gateway = connected(credentials)
    try:
        return gateway.survey()
    finally:
        gateway.close()


@contextmanager
def bound(cluster: ClusterRow, gateway: ClusterGateway) -> Iterator[None]:
    """Serve this cluster with that gateway for a while: how tests put a cluster in memory behind a row."""
    bind(cluster, gateway)
    try:
        yield
    finally:
        unbind(cluster)


def bind(cluster: ClusterRow, gateway: ClusterGateway) -> None:
    """Serve this cluster with that gateway until ``unbind``."""
    with _lock:
        _bound[cluster.pk] = gateway


def unbind(cluster: ClusterRow) -> None:
    with _lock:
        _bound.pop(cluster.pk, None)
