"""The port of a log store, as ingest and readers need it; PostgreSQL is the first adapter, ClickHouse may follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from apps.logs.domain.lines import LineFilter, NewLine, Place, StoredLine


@dataclass(frozen=True, slots=True)
class Written:
    """How many lines are new, and the newest arrival number of each Task that got some."""

    stored: int
    newest: Mapping[UUID, int]


class LogStore(Protocol):
    def write(self, lines: Sequence[NewLine]) -> Written:
        """Store lines that are not there yet, in the caller's transaction; raises django.db.DatabaseError."""
        ...

    def forwards(self, task_id: UUID, wanted: LineFilter, *, after: Place, limit: int) -> list[StoredLine]:
        """The first lines behind ``after``, in order."""
        ...

    def backwards(self, task_id: UUID, wanted: LineFilter, *, before: Place | None, limit: int) -> list[StoredLine]:
        """The last lines ahead of ``before`` (None: the end), in order."""
        ...

    def nth_newest(self, task_id: UUID, wanted: LineFilter, count: int) -> Place | None:
        """The place of the ``count``-th newest line, None when there are fewer."""
        ...

    def arrivals(self, task_id: UUID, *, after: int, limit: int) -> list[StoredLine]:
        """Lines of any time that became visible behind arrival number ``after``, in order of arrival."""
        ...

    def newest_arrival(self, task_id: UUID) -> int:
        """The arrival number of the Task's latest line, 0 when there is none."""
        ...
