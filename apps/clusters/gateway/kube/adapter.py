"""The gateway's port on the Kubernetes API; every call passes the cluster's circuit breaker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

import msgspec

from apps.clusters.domain.survey import Survey
from apps.clusters.gateway.breaker import Breaker
from apps.clusters.gateway.kube.client import Client
from apps.clusters.gateway.kube.errors import NOT_KUBERNETES, TOO_LARGE
from apps.clusters.gateway.kube.survey import Surveyor, denied_rights
from apps.clusters.gateway.kube.translate import (
    ListAnswer,
    collection_path,
    list_query,
    object_path,
    plain,
    watch_event,
    watch_query,
)
from apps.clusters.gateway.labels import same_owner
from apps.clusters.gateway.port import (
    ClusterFacts,
    Conflict,
    GatewayError,
    Gone,
    LogQuery,
    Manifest,
    ObjectRef,
    Page,
    Rejected,
    Resource,
    Transient,
    WatchEvent,
)

MERGE_PATCH = "application/merge-patch+json"
# How much longer than its own end a watch may stay silent before the connection counts as lost (F17).
WATCH_GRACE_SECONDS = 10
LIST_TRIES = 3
# A list of more pages than this is no list that a cluster keeps: half a million objects.
MOST_PAGES = 1000


class KubeGateway:
    """One cluster through its API server."""

    def __init__(self, client: Client, breaker: Breaker | None = None) -> None:
        self._client = client
        self._breaker = breaker or Breaker()

    def facts(self) -> ClusterFacts:
        version = self._json("GET", "/version").get("gitVersion") or ""
        groups = self._json("GET", "/apis").get("groups") or []
        served = {
            str(version.get("groupVersion"))
            for group in groups
            for version in (group.get("versions") or [])
            if version.get("groupVersion")
        }
        return ClusterFacts(str(version)[:40], frozenset(served | {"v1"}), tuple(self._missing_rights()))

    def survey(self, *, full: bool = True) -> Survey:
        """Past the circuit breaker, since a check is how one finds out; what answers closes it for everybody."""
        found = Surveyor(self._client).survey(full=full)
        if found.answered:
            self._breaker.told(None)
        return found

    def create(self, resource: Resource, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        body = plain(manifest)
        metadata = body.get("metadata") or {}
        namespace = str(metadata.get("namespace") or "")
        query = [("dryRun", "All")] if dry_run else []
        try:
            return self._json("POST", collection_path(resource, namespace), query=query, body=body)
        except Conflict as taken:
            standing = self.read(ObjectRef(resource, str(metadata.get("name") or ""), namespace))
            if standing is not None and same_owner(standing, body):
                return standing
            raise Conflict(f"the name is taken by another's object: {taken.message}", 409, taken.reason) from taken

    def read(self, ref: ObjectRef) -> Manifest | None:
        try:
            return self._json("GET", object_path(ref))
        except Gone:
            return None

    def replace(self, ref: ObjectRef, manifest: Manifest) -> Manifest:
        return self._json("PUT", object_path(ref), body=plain(manifest))

    def merge(self, ref: ObjectRef, patch: Manifest) -> Manifest:
        return self._json("PATCH", object_path(ref), body=plain(patch), content_type=MERGE_PATCH)

    def delete(self, ref: ObjectRef, *, uid: str | None = None, grace_seconds: int | None = None) -> None:
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        try:
            self._json("DELETE", object_path(ref), body=options)
        except Gone:
            return
        except Conflict:
            # With a uid given, a conflict says that ours is gone and a namesake stands there: leave that alone.
            if not uid:
                raise

    def list(self, resource: Resource, *, namespace: str = "", selector: Mapping[str, str] | str | None = None) -> Page:
        for _try in range(LIST_TRIES):
            try:
                return self._pages(resource, namespace, selector)
            except Gone as expired:
                # Between two pages the continue token can expire: only a list from the start is consistent again.
                if expired.status != 410:
                    raise
        raise Transient("the list expired again and again while it was read")

    def watch(
        self, resource: Resource, version: str, *, selector: str | None = None, seconds: int = 60
    ) -> Iterator[WatchEvent]:
        path, query = collection_path(resource), watch_query(version, selector, seconds)
        with self._breaker.guard():
            for line in self._client.lines(path, query, seconds=seconds + WATCH_GRACE_SECONDS):
                event = watch_event(line)
                self._breaker.told(None)
                yield event

    def logs(self, query: LogQuery) -> Iterator[bytes]:
        asked: list[tuple[str, str]] = [("container", query.container), ("timestamps", "true")]
        if query.previous:
            asked.append(("previous", "true"))
        if query.since is not None:
            asked.append(("sinceTime", query.since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
        if query.tail_lines is not None:
            asked.append(("tailLines", str(query.tail_lines)))
        if query.limit_bytes is not None:
            asked.append(("limitBytes", str(query.limit_bytes)))
        with self._breaker.guard():
            yield from self._client.stream(f"{object_path(query.pod)}/log", asked, seconds=WATCH_GRACE_SECONDS)

    def close(self) -> None:
        self._client.close()

    def _pages(self, resource: Resource, namespace: str, selector: Mapping[str, str] | str | None) -> Page:
        items: list[dict[str, Any]] = []
        version, token = "", ""
        path = collection_path(resource, namespace)
        for _page in range(MOST_PAGES):
            answer = _decoded(self._bytes("GET", path, query=list_query(selector, token)), ListAnswer)
            items += answer.items or []
            version = version or answer.version
            token = answer.token
            if not token:
                return Page(items, version)
        raise Transient("the list has no end", reason=TOO_LARGE)

    def _missing_rights(self) -> Iterator[str]:
        try:
            yield from map(str, denied_rights(self._json))
        except (Gone, Rejected):
            return  # a server without reviews cannot tell, and the call itself will

    def _json(self, method: str, path: str, **call: Any) -> dict[str, Any]:
        answer: dict[str, Any] = _decoded(self._bytes(method, path, **call), dict[str, Any])
        return answer

    def _bytes(self, method: str, path: str, **call: Any) -> bytes:
        with self._breaker.guard():
            return self._client.call(method, path, **call)


def _decoded(body: bytes, wanted: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise _not_kubernetes(fault) from fault


def _not_kubernetes(fault: Exception) -> GatewayError:
    return Transient(f"the answer is not what a Kubernetes API sends: {str(fault)[:200]}", reason=NOT_KUBERNETES)
