"""A check list in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from apps.clusters.domain.checklist_rows import Check, State
from apps.clusters.domain.checklist_words import explained
from apps.kernel.text import translated


def described(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Each row with its words: ``title``, ``text``, and where something is to be done ``fix`` and ``command``."""
    return [_described(check) for check in checks]


def _described(check: Check) -> dict[str, Any]:
    told = explained(check)
    return {
        "name": check.name,
        "state": check.state.value,
        "token": check.token,
        "title": translated(told.title, gettext),
        "text": translated(told.sentence, gettext),
        "fix": translated(told.remedy, gettext) if told.remedy is not None else "",
        "command": told.command,
        "numbers": dict(check.numbers),
    }


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one kind: the texts of those that are well, and those that are not with their words."""

    name: str
    title: str
    state: str
    well: Sequence[str]
    amiss: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows are amiss."""

    faults: int = 0
    warnings: int = 0


def grouped(checks: Iterable[Check]) -> list[Group]:
    """The list for a page, one group a kind of row: what is at fault first, then in the list's own order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in described(checks):
        found.setdefault(row["name"], []).append(row)
    worst_first = [State.FAULT.value, State.WARN.value, State.OK.value]
    return sorted((_group(name, rows) for name, rows in found.items()), key=lambda one: worst_first.index(one.state))


def tally(checks: Iterable[Check]) -> Tally:
    """What a list of clusters says of each."""
    states = [check.state for check in checks]
    return Tally(states.count(State.FAULT), states.count(State.WARN))


def _group(name: str, rows: Sequence[dict[str, Any]]) -> Group:
    worst = next((state for state in (State.FAULT, State.WARN) if any(row["state"] == state for row in rows)), State.OK)
    well = [row["text"] for row in rows if row["state"] == State.OK]
    amiss = [row for row in rows if row["state"] != State.OK]
    return Group(name, rows[0]["title"], worst.value, well, amiss)
