"""Every refusal as a problem of RFC 9457 with rest.md's codes; nothing internal ever reaches the caller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions

from apps.kernel.errors import Code, Refusal, Refused
from apps.kernel.text import translated

log = structlog.get_logger(__name__)
MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
RESERVED = frozenset({"type", "title", "status", "detail", "code", "fields", "request_id"})

STATUS: Mapping[Code, int] = {
    Code.INVALID: 422,
    Code.UNKNOWN_MARK: 422,
    Code.IMPOSSIBLE_REQUEST: 422,
    Code.QUOTA_EXCEEDED: 409,
    Code.IMMUTABLE_FIELD: 409,
    Code.INVALID_STATE: 409,
    Code.DUPLICATE_NAME: 409,
    Code.STALE_VERSION: 412,
    Code.VERSION_REQUIRED: 428,
    Code.IDEMPOTENCY_KEY_REUSED: 422,
    Code.NOT_FOUND: 404,
    Code.FORBIDDEN: 403,
    Code.UNAUTHENTICATED: 401,
    Code.THROTTLED: 429,
    Code.TOO_LARGE: 413,
    Code.UNAVAILABLE: 503,
}
# What DRF refuses before a view is reached, beyond rest.md's list.
HTTP_CODES = {405: "method_not_allowed", 406: "not_acceptable", 415: "unsupported_media_type"}

EXPECTED: Sequence[tuple[tuple[type[Exception], ...], Code, object]] = (
    ((Http404,), Code.NOT_FOUND, _("There is nothing here, or it is not yours to see.")),
    ((PermissionDenied,), Code.FORBIDDEN, _("You may look at this, but not do that.")),
    ((RequestDataTooBig,), Code.TOO_LARGE, _("The body is too large.")),
    ((SuspiciousOperation,), Code.INVALID, _("The request could not be understood.")),
    ((OperationalError, InterfaceError), Code.UNAVAILABLE, _("The platform is busy or its store is away; try again.")),
)


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> JsonResponse:
    """DRF's exception handler: any exception as its problem; the unexpected are logged with their trace."""
    if isinstance(exc, exceptions.APIException):
        return _from_drf(exc)
    refusal = _expected(exc)
    if refusal is not None:
        return problem(refusal)
    log.error("call_failed", exc_info=exc)
    detail = _("Something went wrong on our side; it is in the log under this request id.")
    return _answer(500, "internal", str(detail), {}, {})


def problem(refusal: Refusal, *, headers: Mapping[str, str] | None = None) -> JsonResponse:
    """The answer for one refusal."""
    more = {"Retry-After": str(RETRY_SECONDS)} if refusal.code is Code.UNAVAILABLE else {}
    fields = {path: [translated(message, gettext) for message in found] for path, found in refusal.fields.items()}
    detail = translated(refusal.detail, gettext)
    return _answer(
        STATUS[refusal.code], refusal.code.value, detail, fields, refusal.numbers, {**more, **(headers or {})}
    )


def _expected(exc: Exception) -> Refusal | None:
    if isinstance(exc, Refused):
        return exc.refusal
    if isinstance(exc, OperationalError | InterfaceError):
        # A lock that did not come in time, or the database away: waiting helps, so say so.
        log.warning("store_unavailable", fault=str(exc))
    return next((Refusal(code, str(text)) for kinds, code, text in EXPECTED if isinstance(exc, kinds)), None)


def _from_drf(exc: exceptions.APIException) -> JsonResponse:
    headers: dict[str, str] = {}
    if isinstance(exc, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        headers["WWW-Authenticate"] = getattr(exc, "auth_header", "Bearer")
        return problem(Refusal(Code.UNAUTHENTICATED, str(exc.detail)), headers=headers)
    if isinstance(exc, exceptions.Throttled):
        wait = math.ceil(getattr(exc, "wait", None) or 1)
        text = str(_("Too many calls; try again in %(seconds)d seconds.")) % {"seconds": wait}
        return problem(Refusal(Code.THROTTLED, text, numbers={"retry_after": wait}), headers={"Retry-After": str(wait)})
    if isinstance(exc, exceptions.PermissionDenied):
        return problem(Refusal(Code.FORBIDDEN, str(exc.detail)))
    if isinstance(exc, exceptions.NotFound):
        return problem(Refusal(Code.NOT_FOUND, str(exc.detail)))
    code = HTTP_CODES.get(exc.status_code)
    if code is None:
        return problem(Refusal(Code.INVALID, str(_("The request could not be understood."))))
    return _answer(exc.status_code, code, str(exc.detail), {}, {})


def _answer(
    status: int,
    code: str,
    detail: str,
    fields: Mapping[str, Any],
    numbers: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    body: dict[str, object] = {name: value for name, value in numbers.items() if name not in RESERVED}
    body |= {
        "type": f"urn:platform:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "fields": dict(fields),
    }
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    if request_id:
        body["request_id"] = str(request_id)
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))
