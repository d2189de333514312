"""The one place of devkube.agent and devkube.shipper that reads the time."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

_FRACTION = re.compile(r"\.(\d{1,9})\d*")


def now() -> float:
    """Seconds since the epoch."""
    return time.time()


def nanoseconds() -> int:
    """Nanoseconds since the epoch."""
    return time.time_ns()


def monotonic() -> float:
    """Seconds on a clock that never goes back."""
    return time.monotonic()


def stamp(seconds: float) -> str:
    """A moment as metav1.Time: whole seconds, RFC 3339, UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(seconds: float) -> str:
    """A moment as metav1.MicroTime."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def nano_stamp(moment: int) -> str:
    """Nanoseconds since the epoch as Go's RFC3339Nano: no trailing zeros in the fraction."""
    whole, rest = divmod(moment, 1_000_000_000)
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + fraction + "Z"


def parse_nano(text: str) -> int:
    """Nanoseconds since the epoch of an RFC 3339 time; raises ValueError."""
    found = _FRACTION.search(text)
    fraction = int(found.group(1).ljust(9, "0")) if found else 0
    whole = datetime.fromisoformat(_FRACTION.sub("", text, count=1))
    if whole.tzinfo is None:
        raise ValueError(f"no time zone in {text!r}")
    return int(whole.timestamp()) * 1_000_000_000 + fraction


def parse(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time; raises ValueError."""
    return parse_nano(text) / 1_000_000_000
