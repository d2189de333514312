"""Asking a cluster all that its check list tells, one bounded call after the other; every fault is an answer too."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import msgspec

from apps.clusters.domain.certificates import expiry
from apps.clusters.domain.rights import NEEDED_RIGHTS, Right
from apps.clusters.domain.sign_in import token_expiry
from apps.clusters.domain.survey import CertificateSeen, Failure, Survey
from apps.clusters.gateway.kube.client import LARGEST_ANSWER, Client
from apps.clusters.gateway.kube.errors import NO_ANSWER, NOT_KUBERNETES, REDIRECT, TOO_LARGE, TOO_SLOW
from apps.clusters.gateway.kube.tls import look_at
from apps.clusters.gateway.kube.translate import ListAnswer, collection_path, list_query
from apps.clusters.gateway.port import Forbidden, GatewayError, Gone, Rejected, Resource, Transient
from apps.kernel import clock

Ask = Callable[..., dict[str, Any]]
Found = TypeVar("Found")
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
AT_ONCE = 6
# All calls of a survey together; what was not asked by then is told as such.
LONGEST_SURVEY = 25.0
MOST_OBJECTS = 20_000


def denied_rights(ask: Ask) -> Sequence[Right]:
    """Which of the needed rights the account lacks. Raises GatewayError; Gone or Rejected without reviews."""

    def is_denied(right: Right) -> bool:
        attributes = {"verb": right.verb, "group": right.group, "resource": right.resource}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        status = ask("POST", REVIEWS, body=review).get("status")
        return not (isinstance(status, dict) and status.get("allowed") is True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = zip(NEEDED_RIGHTS, pool.map(is_denied, NEEDED_RIGHTS), strict=True)
        return [right for right, denied in answers if denied]


class Surveyor:
    """One survey through one client; raises nothing."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._deadline = time.monotonic() + LONGEST_SURVEY

    def survey(self, *, full: bool) -> Survey:
        """First whether anybody is there and who, then what it is, then everything else; ends with the first hurdle."""
        access = self._client.access
        seen = look_at(access, seconds=self._client.connect_seconds)
        if isinstance(seen, Failure) and seen.token in {"refused", "timed_out", "name_unknown", "no_answer"}:
            return Survey(reached=seen)
        by = "certificate" if access.client_certificate and not access.token else "token"
        until = expiry(access.client_certificate) if by == "certificate" else token_expiry(access.token)
        base = {"address": self._client.place, "certificate": seen, "by": by, "until": until}
        if isinstance(seen, Failure) or (isinstance(seen, CertificateSeen) and seen.fault):
            return Survey(**base)  # type: ignore[arg-type]  # the values' types are those of the fields they name
        version, skew = self._version()
        asked = self._everything(full=full) if isinstance(version, str) else {}
        asked |= {"identity": self._identity()} if isinstance(asked.get("groups"), frozenset) else {}
        return Survey(**base, version=version, skew=skew, **asked)  # type: ignore[arg-type]  # as above

    def _everything(self, *, full: bool) -> dict[str, Any]:
        groups = self._try(self._groups)
        if not full:
            return {"groups": groups}
        return {
            "groups": groups,
            "denied": self._try(self._denied),
            "priority_classes": self._try(lambda: self._listed(Resource.PRIORITY_CLASS)),
            "storage_classes": self._try(lambda: self._listed(Resource.STORAGE_CLASS)),
            "nodes": self._try(lambda: self._listed(Resource.NODE)),
        }

    def _version(self) -> tuple[str | Failure, int | None]:
        began = clock.now()
        try:
            body, date = self._client.dated_call("GET", "/version")
            said = _decoded(body, dict[str, Any]).get("gitVersion")
        except GatewayError as error:
            gone = isinstance(error, Gone)
            return Failure("not_kubernetes", str(error)) if gone else self._failure(error), None
        if not isinstance(said, str) or not said:
            return Failure("not_kubernetes", body[:100].decode("utf-8", "replace")), None
        return said, _skew(date, began)

    def _groups(self) -> frozenset[str]:
        found = self._json("GET", "/apis").get("groups")
        served = {
            str(version.get("groupVersion"))
            for group in (found if isinstance(found, list) else [])
            for version in ((group.get("versions") if isinstance(group, dict) else None) or [])
            if isinstance(version, dict)
        }
        return frozenset(served | {"v1"})

    def _identity(self) -> str:
        """What a cluster is known by for its whole life; empty where the account may not read it."""
        found = self._try(lambda: self._json("GET", f"{collection_path(Resource.NAMESPACE)}/kube-system"))
        metadata = found.get("metadata") if isinstance(found, dict) else None
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        return uid[:64] if isinstance(uid, str) else ""

    def _denied(self) -> Sequence[Right] | Failure:
        try:
            return denied_rights(self._json)
        except (Gone, Rejected) as error:
            return Failure("no_reviews", str(error))

    def _listed(self, resource: Resource) -> Sequence[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        token = ""
        while len(items) <= MOST_OBJECTS:
            body = self._client.call("GET", collection_path(resource), query=list_query(None, token))
            page = _decoded(body, ListAnswer)
            items += page.items or []
            token = page.token
            if not token:
                return items
            self._in_time()
        raise Transient("the list has no end", reason=TOO_LARGE)

    def _json(self, method: str, path: str, **call: Any) -> dict[str, Any]:
        self._in_time()
        answer: dict[str, Any] = _decoded(self._client.call(method, path, **call), dict[str, Any])
        return answer

    def _in_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise Transient("the whole check took too long", reason=TOO_SLOW)

    def _try(self, ask: Callable[[], Found]) -> Found | Failure:
        try:
            self._in_time()
            return ask()
        except GatewayError as error:
            return self._failure(error)

    def _failure(self, error: GatewayError) -> Failure:
        numbers = {"address": self._client.place, "seconds": round(self._client.seconds), "status": error.status or 0}
        numbers["limit"] = LARGEST_ANSWER // 2**20
        return Failure(_token(error), str(error), numbers)


def _token(error: GatewayError) -> str:
    known = {REDIRECT: "redirect", TOO_LARGE: "too_large", TOO_SLOW: "too_slow", NOT_KUBERNETES: "not_kubernetes"}
    if error.reason in known:
        return known[error.reason]
    if error.reason == NO_ANSWER:
        return "too_slow" if "timed out" in error.message else "no_answer"
    if isinstance(error, Forbidden):
        return "credentials_refused" if error.status == 401 else "forbidden"
    return "server_fault"


def _skew(date: str, began: datetime) -> int | None:
    """How many seconds the server's clock is ahead of ours in the middle of the call; its fractions are cut off."""
    try:
        told = parsedate_to_datetime(date)
    except ValueError:
        return None
    middle = began + (clock.now() - began) / 2
    told = told if told.tzinfo else told.replace(tzinfo=UTC)
    return round((told - middle).total_seconds() + 0.5)


def _decoded(body: bytes, wanted: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        began = " ".join(body[:80].decode("utf-8", "replace").split())
        raise Transient(f"{str(fault)[:100]} ({began})", reason=NOT_KUBERNETES) from fault
