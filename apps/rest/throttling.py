"""One bound per caller and minute, counted over all processes in the cache."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from apps.kernel import clock

log = structlog.get_logger(__name__)
SECONDS = {"sec": 1, "min": 60, "hour": 3600}


class PerCaller(BaseThrottle):
    """A fixed window per person, or per address for anonymous callers: one counter, not a list of every call."""

    def __init__(self) -> None:
        calls, _slash, unit = str(api_settings.DEFAULT_THROTTLE_RATES["caller"]).partition("/")
        self.calls, self.window = int(calls), SECONDS[unit]
        self.left = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Whether one more call fits; a silent cache refuses nobody."""
        moment = clock.now().timestamp()
        window = int(moment // self.window)
        self.left = (window + 1) * self.window - moment
        key = f"calls:{_who(request)}:{window}"
        try:
            cache.add(key, 0, timeout=self.window * 2)
            return bool(cache.incr(key) <= self.calls)
        except (RedisError, OSError, ValueError) as fault:
            log.warning("calls_not_counted", fault=str(fault))
            return True

    def wait(self) -> float:
        """Seconds until the next window begins."""
        return self.left


def _who(request: Request) -> str:
    person = getattr(request.user, "pk", None)
    if person is not None:
        return f"user-{person}"
    return f"address-{request.META.get('REMOTE_ADDR', '')}"
