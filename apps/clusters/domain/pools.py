"""Pools as values: the shared ones and those reserved for one Project (domain.md §§1, 6)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """A set of nodes over any clusters; ``project_id`` None is public; ``lend_idle`` lends idle places to low tasks."""

    id: int
    name: str
    project_id: int | None = None
    lend_idle: bool = False

    @property
    def is_public(self) -> bool:
        return self.project_id is None
