"""Refusals: what the platform will not do, as values with a code, numbers and the fields concerned.

``code`` is one of rest.md's problem codes. Services raise ``Refused``; delivery turns it into a page or a problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """Problem codes of rest.md; the HTTP status belongs to ``apps.rest.problems``."""

    INVALID = "invalid"
    UNKNOWN_MARK = "unknown_mark"
    IMPOSSIBLE_REQUEST = "impossible_request"
    QUOTA_EXCEEDED = "quota_exceeded"
    IMMUTABLE_FIELD = "immutable_field"
    INVALID_STATE = "invalid_state"
    DUPLICATE_NAME = "duplicate_name"
    STALE_VERSION = "stale_version"
    VERSION_REQUIRED = "version_required"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    UNAUTHENTICATED = "unauthenticated"
    THROTTLED = "throttled"
    TOO_LARGE = "too_large"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not done: a code, one sentence, messages per field path, and the numbers behind it."""

    code: Code
    detail: str
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    numbers: Mapping[str, object] = field(default_factory=dict)


class Refused(Exception):
    """Carries a Refusal from a service to delivery."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


def refuse(code: Code, detail: str, *, fields: Mapping[str, Sequence[str]] | None = None, **numbers: object) -> Refused:
    """Build the exception for one refusal."""
    return Refused(Refusal(code, detail, fields or {}, numbers))
