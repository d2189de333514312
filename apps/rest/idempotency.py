"""Do a call once, however often it is sent (rest.md, Idempotency-Key): key, answer and deed commit together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from apps.kernel.errors import Code, refuse
from apps.rest.models import IdempotencyRecord

LONGEST_KEY = 255
KEPT_FOR = timedelta(hours=24)
KEPT_HEADERS = ("Location", "ETag")
REPLAYED = "Idempotency-Replayed"


def once(request: Request, work: Callable[[], Response], *, now: datetime) -> Response:
    """What ``work`` answers, or what it answered the first time under the caller's ``Idempotency-Key``.

    Two calls at the same moment: the second waits on the unique constraint for the first to commit. A refusal has done
    nothing, so it frees its key. Raises Refused: idempotency_key_reused (another body), invalid (no usable key).
    """
    key = _key(request)
    if key is None:
        return work()
    owner, digest = _person(request), request_digest(request)
    _forget_old(owner, key, now=now)
    with transaction.atomic():
        record = _claimed(owner, key, digest, now=now)
        if record is not None:
            response = work()
            _keep(record, response)
            return response
    return _replayed(IdempotencyRecord.objects.get(owner=owner, key=key), digest)


def answered(request: Request, *, now: datetime) -> Response | None:
    """The kept answer of a call that was made before under this key: for work whose first half must not be repeated.

    Raises Refused as ``once`` does.
    """
    key = _key(request)
    if key is None:
        return None
    owner = _person(request)
    _forget_old(owner, key, now=now)
    record = IdempotencyRecord.objects.filter(owner=owner, key=key).first()
    return _replayed(record, request_digest(request)) if record is not None else None


def request_digest(request: Request) -> str:
    """SHA-256 over method, path and body, whatever the order of names and the white space in it."""
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(f"{request.method} {request.path}\n{body}".encode()).hexdigest()


def _person(request: Request) -> int:
    if request.user.pk is None:
        raise NotAuthenticated
    return int(request.user.pk)


def _key(request: Request) -> str | None:
    key: str | None = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or "\x00" in key:
        message = _("a text of 1 to %(longest)d characters") % {"longest": LONGEST_KEY}
        raise refuse(Code.INVALID, _("This Idempotency-Key cannot be used."), fields={"Idempotency-Key": [message]})
    return key


def _claimed(owner: int, key: str, digest: str, *, now: datetime) -> IdempotencyRecord | None:
    """A new row for the key, None when it is taken by a call that has committed."""
    try:
        with transaction.atomic():
            return IdempotencyRecord.objects.create(owner_id=owner, key=key, digest=digest, created_at=now)
    except IntegrityError:
        return None


def _keep(record: IdempotencyRecord, response: Response) -> None:
    record.status = response.status_code
    record.headers = {name: response[name] for name in KEPT_HEADERS if response.has_header(name)}
    record.body = _plain(response.data)
    record.save(update_fields=["status", "headers", "body"])


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data, cls=JSONEncoder))


def _replayed(record: IdempotencyRecord, digest: str) -> Response:
    if record.digest != digest:
        detail = _("This Idempotency-Key was used with another body in the last 24 hours.")
        raise refuse(Code.IDEMPOTENCY_KEY_REUSED, detail)
    return Response(record.body, status=record.status, headers={**record.headers, REPLAYED: "true"})


def _forget_old(owner: int, key: str, *, now: datetime) -> None:
    """Drop what is past its day, in small portions, so that the table stays small without a tick of its own."""
    old = IdempotencyRecord.objects.filter(created_at__lt=now - KEPT_FOR)
    old.filter(owner=owner, key=key).delete()
    with transaction.atomic():
        some = list(old.select_for_update(skip_locked=True).order_by("pk").values_list("pk", flat=True)[:50])
        IdempotencyRecord.objects.filter(pk__in=some).delete()
