"""A gateway whose process dies at its n-th call, just before or just after the cluster has done it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apps.clusters.gateway.memory import MemoryGateway


class Killed(BaseException):
    """kill -9: nothing that catches errors sees it."""


class DyingGateway:
    """Passes every call on; dies around call number ``at`` (from 1), once."""

    def __init__(self, inner: MemoryGateway, *, at: int, after: bool) -> None:
        self._inner, self._at, self._after = inner, at, after
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        inner: Callable[..., Any] = getattr(self._inner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            dies = self.count == self._at
            if dies and not self._after:
                raise Killed
            answer = inner(*args, **kwargs)
            if dies:
                raise Killed
            return answer

        return call
