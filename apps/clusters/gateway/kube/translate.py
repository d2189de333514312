"""From our words to the API's paths and queries, and from its answers to plain values that tolerate nulls (F18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from apps.clusters.gateway.kube.errors import Status, error_from_status
from apps.clusters.gateway.port import Change, Manifest, ObjectRef, Resource, Transient, WatchEvent

CLUSTER_WIDE = frozenset({Resource.NAMESPACE, Resource.NODE, Resource.PRIORITY_CLASS, Resource.STORAGE_CLASS})
PAGE_SIZE = 500
Query = Sequence[tuple[str, str]]


def collection_path(resource: Resource, namespace: str = "") -> str:
    """``/apis/batch/v1/namespaces/x/jobs``; without a namespace, over all of them."""
    version, plural = resource.value.rsplit("/", 1)
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace and resource not in CLUSTER_WIDE else ""
    return f"{root}{scope}/{plural}"


def object_path(ref: ObjectRef) -> str:
    return f"{collection_path(ref.resource, ref.namespace)}/{quote(ref.name, safe='')}"


def selector_text(selector: Mapping[str, str] | str | None) -> str:
    """A label selector as the API writes it; a mapping is equality of every label."""
    if selector is None or isinstance(selector, str):
        return selector or ""
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))


def list_query(selector: Mapping[str, str] | str | None, token: str) -> Query:
    query = [("limit", str(PAGE_SIZE))]
    if text := selector_text(selector):
        query.append(("labelSelector", text))
    if token:
        query.append(("continue", token))
    return query


def watch_query(version: str, selector: str | None, seconds: int) -> Query:
    query = [
        ("watch", "1"),
        ("allowWatchBookmarks", "true"),
        ("resourceVersion", version),
        ("timeoutSeconds", str(seconds)),
    ]
    if selector:
        query.append(("labelSelector", selector))
    return query


class _ListMeta(msgspec.Struct):
    resourceVersion: str | None = None  # noqa: N815 - the Kubernetes API's own field name
    continue_: str | None = msgspec.field(default=None, name="continue")


class ListAnswer(msgspec.Struct):
    """One page of a list; items stay plain JSON, since no client model survives every null a cluster sends (F18)."""

    metadata: _ListMeta | None = None
    items: list[dict[str, Any]] | None = None

    @property
    def version(self) -> str:
        return (self.metadata.resourceVersion if self.metadata else None) or ""

    @property
    def token(self) -> str:
        return (self.metadata.continue_ if self.metadata else None) or ""


class _WatchLine(msgspec.Struct):
    type: str
    object: dict[str, Any]


def watch_event(line: bytes) -> WatchEvent:
    """One line of a watch; an ERROR is raised as the error it carries, never handed on as an object (F16)."""
    try:
        read = msgspec.json.decode(line, type=_WatchLine)
        status = msgspec.convert(read.object, Status, strict=False) if read.type == "ERROR" else None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise Transient(f"a watch sent what is no event: {fault}") from fault
    if status is not None:
        raise error_from_status(status.code or 500, status)
    version = (read.object.get("metadata") or {}).get("resourceVersion")
    if read.type not in Change.__members__ or not isinstance(version, str) or not version:
        raise Transient(f"a watch sent an event of type {read.type[:40]} without a version")
    return WatchEvent(Change(read.type), read.object, version)


def plain(manifest: Manifest) -> dict[str, Any]:
    """The manifest as JSON's own types, whatever frozen mapping it came as."""
    built: dict[str, Any] = msgspec.to_builtins(manifest)
    return built
