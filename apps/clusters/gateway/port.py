"""The one way to a cluster, in our words (style.md rule 10). Adapters turn foreign errors into those below.

Objects are plain JSON mappings as the Kubernetes API speaks them: the platform derives from what it recorded,
never from client models. Every call has a timeout and may be repeated safely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from apps.clusters.domain.survey import Survey

Manifest = Mapping[str, Any]


class Resource(StrEnum):
    """Kinds of object that the platform touches; the value is ``<apiVersion>/<plural>``."""

    NAMESPACE = "v1/namespaces"
    NODE = "v1/nodes"
    POD = "v1/pods"
    SERVICE = "v1/services"
    EVENT = "v1/events"
    PERSISTENT_VOLUME_CLAIM = "v1/persistentvolumeclaims"
    DEPLOYMENT = "apps/v1/deployments"
    JOB = "batch/v1/jobs"
    PRIORITY_CLASS = "scheduling.k8s.io/v1/priorityclasses"
    STORAGE_CLASS = "storage.k8s.io/v1/storageclasses"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """One object by name; ``namespace`` is empty for cluster-wide kinds."""

    resource: Resource
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A consistent list: every object of the kind, and the version from which a watch sees all that follows."""

    items: Sequence[Manifest]
    version: str


class Change(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change; a BOOKMARK carries only the version to go on from."""

    change: Change
    object: Manifest
    version: str


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What a cluster says of itself: its version, the API groups it serves, what the account may not do."""

    version: str
    capabilities: frozenset[str]
    missing_rights: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A container's log as the API server serves it, lines stamped by the runtime."""

    pod: ObjectRef
    container: str
    previous: bool = False
    since: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None


@dataclass(eq=False)
class GatewayError(Exception):
    """A call to a cluster failed. ``transient`` says whether waiting helps (architecture.md §6)."""

    message: str
    status: int | None = None
    reason: str = ""
    transient: bool = field(default=False, init=False)

    def __str__(self) -> str:
        return self.message


class Transient(GatewayError):
    """Try again later: no answer, time-out, 5xx, 429 (then ``retry_after`` seconds), a lost race (409)."""

    def __init__(
        self, message: str, status: int | None = None, reason: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(message, status, reason)
        self.transient = True
        self.retry_after = retry_after


class CircuitOpen(Transient):
    """Not even tried: the cluster failed too often just now; other clusters go on."""


class Rejected(GatewayError):
    """The cluster will never take this object as it is (400, 422, an admission refusal); ends the attempt."""


class Forbidden(GatewayError):
    """The account may not do this, or credentials are wrong (401, 403)."""


class Gone(GatewayError):
    """The object is not there (404), or the watched version has expired (410): list again."""


class Conflict(Transient):
    """Somebody wrote first (409 on a version), read again and repeat; or the name is taken by another's object."""


class ClusterGateway(Protocol):
    """One cluster. Raises the errors above and nothing else."""

    def facts(self) -> ClusterFacts:
        """Ask the version and the API groups served."""

    def survey(self, *, full: bool = True) -> Survey:
        """Ask all that a check list tells of, within bounds whatever answers; raises nothing, changes nothing there."""

    def create(self, resource: Resource, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        """Create, or return the existing object when it carries our task-id and attempt labels; else Conflict."""

    def read(self, ref: ObjectRef) -> Manifest | None:
        """The object as it stands, or None."""

    def replace(self, ref: ObjectRef, manifest: Manifest) -> Manifest:
        """Put the manifest in place of the object; ``metadata.resourceVersion`` in it guards against a lost update."""

    def merge(self, ref: ObjectRef, patch: Manifest) -> Manifest:
        """JSON merge patch of just the named fields (suspend, replicas, labels)."""

    def delete(self, ref: ObjectRef, *, uid: str | None = None, grace_seconds: int | None = None) -> None:
        """Delete with all it owns, in the background; an absent object is success; ``uid`` protects a namesake."""

    def list(self, resource: Resource, *, namespace: str = "", selector: Mapping[str, str] | str | None = None) -> Page:
        """All objects, read in pages; with ``selector``, only those whose labels equal it (or match the expression)."""

    def watch(
        self, resource: Resource, version: str, *, selector: str | None = None, seconds: int = 60
    ) -> Iterator[WatchEvent]:
        """Changes after ``version`` until ``seconds`` pass or the server closes; raises Gone for an expired version."""

    def logs(self, query: LogQuery) -> Iterator[bytes]:
        """The log's bytes in chunks, each line led by an RFC 3339 timestamp."""
