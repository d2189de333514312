"""From what a cluster or the network answers to our errors, which say whether waiting helps (architecture.md §6)."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from apps.clusters.gateway.port import Conflict, Forbidden, GatewayError, Gone, Rejected, Transient

LONGEST_MESSAGE = 2000
# An API server repeats the whole refused value before it says what is wrong with it: the end of a message counts most.
LONGEST_END = 1000
NAMESPACE_TERMINATING = "NamespaceTerminating"
# Reasons of our own beside the API server's: what was wrong with an answer that is none.
NO_ANSWER, REDIRECT, TOO_LARGE, TOO_SLOW, NOT_KUBERNETES = (
    "NoAnswer",
    "Redirect",
    "TooLarge",
    "TooSlow",
    "NotKubernetes",
)
# The authorizer words its refusals so; every other 403 on a named object comes from admission.
_RIGHTS_REFUSAL = re.compile(r'User "[^"]*" cannot ')
# Admission that has not read yet what it decides by: a server that has just begun, a quota that nobody counted yet.
_NOT_READY = re.compile(r"not yet ready to handle request|status unknown for quota|caches not synchronized")
_ADMISSION_REFUSAL = re.compile(r"exceeded quota|denied the request|is forbidden: ")


class _Details(msgspec.Struct):
    causes: list[dict[str, Any]] | None = None
    retryAfterSeconds: int | None = None  # noqa: N815 - the Kubernetes API's own field name


class Status(msgspec.Struct):
    """The API server's Status object, as far as an error needs it."""

    message: str | None = None
    reason: str | None = None
    details: _Details | None = None
    code: int | None = None


def read_status(body: bytes) -> Status:
    """The Status in an error's body; a proxy's HTML or an empty body gives what text there is."""
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Status(message=body[:LONGEST_MESSAGE].decode(errors="replace"))


def error_for(http_status: int, body: bytes, *, retry_after: int | None = None) -> GatewayError:
    """The error of ours for one HTTP answer that is no success."""
    return error_from_status(http_status, read_status(body), retry_after=retry_after)


def error_from_status(code: int, status: Status, *, retry_after: int | None = None) -> GatewayError:
    """The error of ours for a Status object, also as it stands in a watch's ERROR event."""
    message = _bounded(status.message or f"the cluster answered {code}")
    reason = status.reason or ""
    if code == 403:
        return _refused(message, reason, status)
    kinds: dict[int, type[GatewayError]] = {401: Forbidden, 404: Gone, 409: Conflict, 410: Gone}
    if code in kinds:
        return kinds[code](message, code, reason)
    if code in {400, 405, 406, 413, 415, 422}:
        return Rejected(message, code, reason)
    hinted = status.details.retryAfterSeconds if status.details else None
    return Transient(message, code, reason, retry_after=retry_after or hinted or None)


def _bounded(message: str) -> str:
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[: LONGEST_MESSAGE - LONGEST_END - 3]} … {message[-LONGEST_END:]}"


def _refused(message: str, reason: str, status: Status) -> GatewayError:
    """Tell four kinds of 403 apart.

    What admission cannot decide yet it can in a moment: Transient. A namespace being removed may be back in a minute:
    Transient, and its caller bounds the retries (F08). Quota and webhook refusals are the administrator's word on this
    object: a ResourceQuota counts our Jobs and Services at creation, our own ledger had already admitted the task, and
    a task that waited here would hold cards without ever being told why: Rejected. The rest is missing rights.
    """
    causes = (status.details.causes if status.details else None) or []
    if (
        any(cause.get("reason") == NAMESPACE_TERMINATING for cause in causes)
        or "because it is being terminated" in message
    ):
        return Transient(message, 403, NAMESPACE_TERMINATING)
    if _NOT_READY.search(message):
        return Transient(message, 403, reason)
    if _ADMISSION_REFUSAL.search(message) and not _RIGHTS_REFUSAL.search(message):
        return Rejected(message, 403, reason)
    return Forbidden(message, 403, reason)
