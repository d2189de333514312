"""The one place of devkube.embedded that reads the time."""

import time
from datetime import UTC, datetime, timedelta


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)  # noqa: TID251 # the one clock of this program


def monotonic() -> float:
    """Return seconds on a clock that never goes back."""
    return time.monotonic()


def stamp(moment: datetime | None = None) -> str:
    """Write a moment as metav1.Time does: whole seconds, RFC 3339, UTC."""
    return (moment or now()).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(moment: datetime | None = None) -> str:
    """Write a moment as metav1.MicroTime does."""
    return (moment or now()).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse(text: str) -> datetime:
    """Read an RFC 3339 time; raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def seconds_since(text: str | None, at: datetime) -> float:
    """Seconds from a written time to `at`; 0 when nothing was written."""
    return (at - parse(text)).total_seconds() if text else 0.0


def later(seconds: float, moment: datetime | None = None) -> datetime:
    """Return the moment so many seconds after `moment` (default: now)."""
    return (moment or now()) + timedelta(seconds=seconds)
