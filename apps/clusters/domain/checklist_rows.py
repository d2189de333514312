"""One row of a check list, and how a failure becomes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from apps.clusters.domain.survey import Failure

LONGEST_TEXT = 200


class State(StrEnum):
    """``fault``: tasks cannot run like this; ``warn``: they can, but something is missing or will go wrong."""

    OK = "ok"
    WARN = "warn"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Check:
    """``name`` says what was looked at, ``token`` what was found; numbers are JSON's own types."""

    name: str
    state: State
    token: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


def failed(name: str, failure: Failure, state: State = State.FAULT) -> Check:
    """The row of something that could not be found out."""
    text = {"text": bounded(failure.text)} if failure.text else {}
    return Check(name, state, failure.token, {**failure.numbers, **text})


def bounded(text: str) -> str:
    """Foreign text in one short line that can be stored."""
    line = " ".join(text.replace("\x00", " ").encode("utf-8", "replace").decode().split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def days_left(until: datetime, now: datetime) -> int:
    return (until - now).days


def wire(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The rows as they are stored and told over REST."""
    return [
        {"name": row.name, "state": row.state.value, "token": row.token, "numbers": dict(row.numbers)} for row in checks
    ]


def from_wire(stored: object) -> tuple[Check, ...]:
    """The rows again; what an older or newer program stored and this one cannot read is left out."""
    rows = stored if isinstance(stored, list) else []
    return tuple(
        Check(str(row["name"]), State(row["state"]), str(row["token"]), dict(row["numbers"]))
        for row in rows
        if isinstance(row, dict)
        and row.get("state") in set(State)
        and isinstance(row.get("numbers"), dict)
        and "name" in row
        and "token" in row
    )
