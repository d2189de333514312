"""Log lines in REST's words (rest.md)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from apps.logs.selectors import LinePage, wire


class LineAnswer(serializers.Serializer[Any]):
    """``place`` orders lines and is what ``after`` and ``before`` take; ``text`` is what the container wrote."""

    at = serializers.CharField()
    attempt = serializers.IntegerField()
    instance = serializers.CharField()
    container = serializers.CharField()
    stream = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    place = serializers.CharField()


class LinesAnswer(serializers.Serializer[Any]):
    """Some lines in order; ``next`` goes on behind them, ``previous`` ahead of them; null where nothing is left."""

    lines = LineAnswer(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)

    def to_representation(self, page: LinePage) -> dict[str, Any]:
        return {
            "lines": [wire(line) for line in page.lines],
            "next": str(page.next) if page.next else None,
            "previous": str(page.previous) if page.previous else None,
        }


class LineStream(JSONRenderer):
    """One JSON object a line; the stream itself is made by ``streams``."""

    media_type = "application/x-ndjson"
    format = "ndjson"


class PlainText(JSONRenderer):
    """Chosen by ``Accept: text/plain``, which asks for the whole log as a file."""

    media_type = "text/plain"
    format = "txt"
