"""Reading recorded cluster objects: a field that is null, missing or of another type counts as empty (F18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

EMPTY: Mapping[str, Any] = {}


def inner(value: object, *path: str) -> Mapping[str, Any]:
    """The object under the path, empty where anything on the way is no object."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else EMPTY


def entries(value: object, *path: str) -> list[Mapping[str, Any]]:
    """The objects of the list under the path; entries that are no objects are left out."""
    *way, last = path
    found = inner(value, *way).get(last)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [entry for entry in found if isinstance(entry, Mapping)]


def text(value: object, *path: str) -> str:
    *way, last = path
    found = inner(value, *way).get(last)
    return found if isinstance(found, str) else ""


def whole(value: object, *path: str) -> int | None:
    *way, last = path
    found = inner(value, *way).get(last)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def count(value: object, *path: str) -> int:
    return max(0, whole(value, *path) or 0)


def moment(value: object, *path: str) -> datetime | None:
    """A time as the API writes it (RFC 3339), in UTC; None where it is missing or unreadable."""
    written = text(value, *path)
    try:
        read = datetime.fromisoformat(written)
    except ValueError:
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def condition(value: object, kind: str) -> Mapping[str, Any]:
    """The object's status condition of this type, empty where there is none."""
    for found in entries(value, "status", "conditions"):
        if found.get("type") == kind:
            return found
    return EMPTY


def holds(value: object, kind: str) -> bool:
    return condition(value, kind).get("status") == "True"
