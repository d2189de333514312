"""The one home of the wall clock; everything else is told the time (style.md rule 4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


SYSTEM_CLOCK = SystemClock()


def now() -> datetime:
    """The present moment in UTC, for shells that have no clock passed in."""
    return SYSTEM_CLOCK.now()
