"""``POST /ingest/vector``: where log shippers deliver (external facts, Vector §2.4)."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.kernel import clock
from apps.logs.access import shipper_cluster
from apps.logs.domain.bodies import (
    LARGEST_SENT,
    BodyTooLargeError,
    BrokenBodyError,
    UnknownEncodingError,
    decoded,
)
from apps.logs.domain.vector import NotJsonError
from apps.logs.ingest import ingest

RETRY_AFTER_SECONDS = 5


@csrf_exempt
@require_POST
def ingest_vector(request: HttpRequest) -> JsonResponse:
    """2xx after the commit only; 503 while the store is away; 4xx solely for what no second try could mend."""
    try:
        return _deliver(request)
    except (OperationalError, InterfaceError):
        answer = _problem(503, "unavailable", "The log store does not answer; send this batch again.")
        answer["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return answer


def _deliver(request: HttpRequest) -> JsonResponse:
    cluster = shipper_cluster(request.headers.get("Authorization", ""))
    if cluster is None:
        answer = _problem(401, "unauthenticated", "A log shipper's token is needed.")
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    try:
        summary = ingest(cluster, _body(request), now=clock.now())
    except BodyTooLargeError:
        return _problem(413, "too_large", "The batch is too large; send smaller ones.")
    except UnknownEncodingError:
        return _problem(415, "invalid", "Send identity, gzip, deflate, zstd or snappy.")
    except (BrokenBodyError, NotJsonError):
        return _problem(400, "invalid", "The body is no JSON.")
    set_aside = {fault.value: count for fault, count in sorted(summary.set_aside.items())}
    return JsonResponse({"stored": summary.stored, "repeated": summary.repeated, "set_aside": set_aside})


def _body(request: HttpRequest) -> bytes:
    # Not request.body: its bound of two megabytes would answer 400, at which Vector drops the batch for good.
    sent = request.read(LARGEST_SENT + 1)
    if len(sent) > LARGEST_SENT:
        raise BodyTooLargeError
    return decoded(sent, request.headers.get("Content-Encoding", ""))


def _problem(status: int, code: str, detail: str) -> JsonResponse:
    body = {"type": "about:blank", "title": detail, "status": status, "detail": detail, "code": code}
    return JsonResponse(body, status=status, content_type="application/problem+json")
