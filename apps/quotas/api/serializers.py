"""Quotas in REST's words (rest.md)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.kernel.quantities import format_cpu, format_memory
from apps.quotas import selectors
from apps.quotas.models import Quota

FORMATS = {"cpu": format_cpu, "memory": format_memory}


class ScopeShape(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()


class QuotaList(serializers.ListSerializer[Any]):
    def to_representation(self, rows: Any) -> list[dict[str, Any]]:
        """Read uses and holders of the whole page at once: the same number of queries for any number of quotas."""
        return [_answer(row) for row in selectors.in_order_of(rows)]


class QuotaAnswer(serializers.Serializer[Any]):
    """A limit and what is held of it: ``cpu`` in millicores, ``memory`` in MiB, ``cards:<mark>`` in pieces."""

    id = serializers.IntegerField()
    scope = ScopeShape()
    project = serializers.CharField(allow_null=True)
    user = serializers.CharField(allow_null=True)
    resource = serializers.CharField()
    limit = serializers.IntegerField()
    used = serializers.IntegerField()
    held_by_pending = serializers.IntegerField()
    overhang = serializers.IntegerField()
    holders = serializers.ListField(child=serializers.UUIDField())
    text = serializers.DictField(child=serializers.CharField())

    class Meta:
        list_serializer_class = QuotaList

    def to_representation(self, row: Quota) -> dict[str, Any]:
        return _answer(selectors.in_order_of([row])[0])


def _answer(row: selectors.QuotaRow) -> dict[str, Any]:
    form = FORMATS.get(row.resource, str)
    return {
        "id": row.id,
        "scope": {"kind": row.scope_kind, "name": row.scope},
        "project": row.scope if row.scope_kind == "project" else None,
        "user": row.scope if row.scope_kind == "user" else None,
        "resource": row.resource,
        "limit": row.limit,
        "used": row.used,
        "held_by_pending": row.held_by_pending,
        "overhang": row.overhang,
        "holders": [str(task) for task in row.holders],
        "text": {"limit": form(row.limit), "used": form(row.used)},
    }


class LimitShape(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=0)
