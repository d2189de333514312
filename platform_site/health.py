"""Whether this process lives, and whether it can serve: the database and Valkey answer."""

from __future__ import annotations

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError


@require_safe
def alive(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when both stores answer, else 503 naming the silent one; says nothing else to strangers."""
    silent: list[str] = []
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        silent.append("database")
    try:
        cache.get("ready")
    except (RedisError, OSError):
        silent.append("redis")
    return JsonResponse({"silent": silent}, status=503 if silent else 200)
