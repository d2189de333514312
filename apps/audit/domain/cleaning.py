"""What an AuditEvent keeps of a value: no secrets, bounded sizes, nothing that PostgreSQL's jsonb refuses."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

HIDDEN = "•••"
# `last_four`-style parts of a secret are secrets too, so the word may stand anywhere in the key.
SECRET_KEY = re.compile(
    r"passw|passphrase|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|authorization|cookie|digest"
    r"|sealed|signature",
    re.IGNORECASE,
)
# A command line or an address may carry a secret although its key looks harmless.
SECRET_TEXT = re.compile(
    r"(?i)(bearer\s+|://[^/\s:@]*:|(?:password|secret|token|api[-_]?key)\s*[=:]\s*)([^\s@,;&'\"]+)"
)
LONGEST_TEXT = 500
MOST_ITEMS = 60
DEEPEST = 6


def clean(values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that may be stored: values of secret-looking keys hidden, text cut at 500 characters, 60 items a level."""
    return _mapping(values, DEEPEST)


def clean_text(text: str, longest: int) -> str:
    """``text`` without NUL and lone surrogates, at most ``longest`` characters, a cut shown by an ellipsis."""
    storable = text.replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")
    return storable if len(storable) <= longest else storable[: longest - 1] + "…"


def _mapping(values: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    kept = {
        clean_text(str(key), 100): HIDDEN if SECRET_KEY.search(str(key)) and value else _value(value, depth - 1)
        for key, value in list(values.items())[:MOST_ITEMS]
    }
    left_out = len(values) - MOST_ITEMS
    return kept | ({"…": f"{left_out} more"} if left_out > 0 else {})


def _value(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return HIDDEN
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _nested(value, depth) if depth > 0 else "…"
    text = value.isoformat() if isinstance(value, date) else str(value)
    return SECRET_TEXT.sub(rf"\1{HIDDEN}", clean_text(text, LONGEST_TEXT))


def _nested(value: Mapping[Any, Any] | Collection[Any], depth: int) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    kept = [_value(item, depth - 1) for item in list(value)[:MOST_ITEMS]]
    return kept if len(value) <= MOST_ITEMS else [*kept, f"… {len(value) - MOST_ITEMS} more"]
