"""A circuit breaker per cluster: what failed just now costs nothing for a while, and other clusters go on (F17)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apps.clusters.gateway.port import CircuitOpen, Conflict, GatewayError, Transient


class Breaker:
    """Opens after ``failures`` silent calls within ``window`` seconds; then one probe at a time, ever more seldom."""

    def __init__(
        self,
        *,
        failures: int = 3,
        window: float = 30,
        pause: float = 5,
        longest_pause: float = 60,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures, self._window, self._longest = failures, window, longest_pause
        self._shortest, self._pause = pause, pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failed_at: list[float] = []
        self._open_until: float | None = None

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Around one call; raises CircuitOpen without trying while the circuit is open."""
        self._admit()
        try:
            yield
        except GatewayError as error:
            self.told(error)
            raise
        else:
            self.told(None)

    def told(self, error: GatewayError | None) -> None:
        """Count how a call ended; any answer of the cluster, a refusal too, shows that it is there."""
        silent = isinstance(error, Transient) and not isinstance(error, Conflict) and _no_answer(error)
        with self._lock:
            if silent:
                self._count()
            else:
                self._failed_at, self._open_until, self._pause = [], None, self._shortest

    def _admit(self) -> None:
        with self._lock:
            if self._open_until is None:
                return
            left = self._open_until - self._clock()
            if left > 0:
                raise CircuitOpen("the cluster does not answer; not tried again yet", retry_after=max(1, round(left)))
            # Half open: this caller is the probe, everybody else keeps waiting for what it finds.
            self._open_until = self._clock() + self._pause

    def _count(self) -> None:
        now = self._clock()
        if self._open_until is not None:
            self._pause = min(self._longest, self._pause * 2)
            self._open_until = now + self._pause
            return
        self._failed_at = [at for at in self._failed_at if now - at <= self._window] + [now]
        if len(self._failed_at) >= self._failures:
            self._open_until = now + self._pause


def _no_answer(error: Transient) -> bool:
    """429 and a namespace under removal are answers of a healthy server; no status or 5xx is none."""
    return error.status is None or error.status >= 500
