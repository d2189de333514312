"""Lists that answer ``{results, next, previous}``: pages by key, so depth costs nothing and no row is met twice."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.utils.urls import remove_query_param, replace_query_param

from apps.kernel.errors import Code, Refused, refuse
from apps.rest.parsing import Parameters

Row = TypeVar("Row", bound=Model)
LARGEST_PAGE = 200
USUAL_PAGE = 50


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins: behind (or ahead of) the row with this value in the order's field, and this key."""

    order: str
    value: Any
    key: Any
    backwards: bool = False


def answer_page(
    request: Request,
    rows: QuerySet[Row],
    shape: type[BaseSerializer[Any]],
    *,
    orders: Mapping[str, str],
    default: str,
    context: Mapping[str, Any] | None = None,
) -> Response:
    """One page of ``rows``: ``limit``, ``order`` (of ``orders``, with ``-`` for falling) and ``cursor`` as asked.

    ``orders`` maps public names to fields that are never null; ties are broken by the primary key. Raises Refused
    (invalid) for parameters that cannot be used.
    """
    given = Parameters(request)
    limit = given.whole("limit", USUAL_PAGE, low=1, high=LARGEST_PAGE)
    names = frozenset(orders) | {f"-{name}" for name in orders}
    order = next(iter(given.words("order", names)), default)
    text = given.text("cursor")
    given.done()
    cursor = _read(text, order) if text else None
    found, more = _fetch(rows, order, orders[order.lstrip("-")], cursor, limit)
    return Response(
        {
            "results": shape(found, many=True, context=context or {}).data,
            **_links(request, order, orders, found, cursor, more=more),
        }
    )


def _fetch(rows: QuerySet[Row], order: str, field: str, cursor: Cursor | None, limit: int) -> tuple[list[Row], bool]:
    backwards = cursor is not None and cursor.backwards
    falling = order.startswith("-") != backwards
    sign, compare = ("-", "lt") if falling else ("", "gt")
    try:
        if cursor is not None:
            behind = Q(**{f"{field}__{compare}": cursor.value})
            rows = rows.filter(behind | Q(**{field: cursor.value, f"pk__{compare}": cursor.key}))
        found = list(rows.order_by(f"{sign}{field}", f"{sign}pk")[: limit + 1])
    except (ValidationError, ValueError, TypeError, OverflowError):
        raise _bad_cursor() from None
    page = found[:limit]
    return (page[::-1] if backwards else page), len(found) > limit


def _links(
    request: Request,
    order: str,
    orders: Mapping[str, str],
    found: Sequence[Model],
    cursor: Cursor | None,
    *,
    more: bool,
) -> dict[str, str | None]:
    backwards = cursor is not None and cursor.backwards
    address = remove_query_param(request.build_absolute_uri(), "cursor")

    def link(row: Model, *, back: bool) -> str:
        value = row
        for part in orders[order.lstrip("-")].split("__"):
            value = getattr(value, part)
        return str(replace_query_param(address, "cursor", _write(Cursor(order, value, row.pk, back))))

    has_next = bool(found) and (more or backwards)
    has_previous = bool(found) and cursor is not None and (more or not backwards)
    return {
        "next": link(found[-1], back=False) if has_next else None,
        "previous": link(found[0], back=True) if has_previous else None,
    }


def _write(cursor: Cursor) -> str:
    value = cursor.value.isoformat() if isinstance(cursor.value, datetime) else cursor.value
    key = cursor.key if isinstance(cursor.key, int) else str(cursor.key)
    raw = json.dumps([cursor.order, value, key, cursor.backwards], separators=(",", ":"))
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def _read(text: str, order: str) -> Cursor:
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        name, value, key, backwards = json.loads(raw)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _bad_cursor() from None
    sound = isinstance(value, str | int) and isinstance(key, str | int) and isinstance(backwards, bool)
    if name != order or not sound or "\x00" in f"{value}{key}" or not f"{value}{key}".isprintable():
        raise _bad_cursor()
    return Cursor(name, value, key, backwards)


def _bad_cursor() -> Refused:
    message = _("is no cursor of this list in this order; begin again without it")
    return refuse(Code.INVALID, _("Some parameters cannot be used."), fields={"cursor": [message]})
