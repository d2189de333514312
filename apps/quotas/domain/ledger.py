"""The books as values: who holds how much, what is left, and why more is not given (domain.md §6).

Amounts are whole: millicores for ``cpu``, MiB for ``memory``, pieces for ``cards:<mark>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from apps.kernel.quantities import QuantityError, parse_count, parse_cpu, parse_memory
from apps.kernel.text import say as _

# JSON and JavaScript keep whole numbers exact up to here; a larger limit would be shown wrongly.
LARGEST_LIMIT = 2**53
RESOURCE = re.compile(r"^(cpu|memory|cards:[a-z0-9]([-a-z0-9]*[a-z0-9])?)$")
LONGEST_RESOURCE = 60


@dataclass(frozen=True, slots=True)
class Standing:
    """One resource of one scope: its limit and what open reservations hold; a missing quota row is ``Standing()``."""

    limit: int = 0
    used: int = 0

    @property
    def free(self) -> int:
        """What may still be held; never negative."""
        return max(0, self.limit - self.used)

    @property
    def overhang(self) -> int:
        """By how much use stands above a limit that was lowered later."""
        return max(0, self.used - self.limit)


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why an amount is not given: ``asked`` more would pass the limit."""

    resource: str
    asked: int
    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One open reservation: this holder's attempt holds ``amount`` of ``resource``."""

    holder: str
    attempt: int
    resource: str
    amount: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A quota as people read it: the standing and who holds it, each holder once, in the order of holding."""

    standing: Standing
    holders: tuple[str, ...]


def total(entries: Iterable[Entry], resource: str) -> int:
    """What the entries hold of one resource."""
    return sum(entry.amount for entry in entries if entry.resource == resource)


def shortage(more: Mapping[str, int], standings: Mapping[str, Standing]) -> Shortage | None:
    """The first resource, by name, of which ``more`` cannot be held on top; what shrinks or stays is never short.

    So a task may shrink while its scope stands above a lowered limit (domain.md §6).
    """
    for resource in sorted(more):
        asked, standing = more[resource], standings.get(resource, Standing())
        if asked > 0 and standing.used + asked > standing.limit:
            return Shortage(resource, asked, standing.used, standing.limit)
    return None


@dataclass(frozen=True, slots=True)
class Books:
    """All open reservations of one scope beside its limits; every change gives new books."""

    limits: Mapping[str, int]
    open: tuple[Entry, ...] = ()

    def standing(self, resource: str) -> Standing:
        """The limit and use of one resource; unknown resources stand at nothing of nothing."""
        return Standing(self.limits.get(resource, 0), total(self.open, resource))

    def reserve(self, holder: str, attempt: int, amounts: Mapping[str, int]) -> Books | Shortage:
        """All the amounts or none; an attempt that holds already is brought to ``amounts``, never booked twice."""
        mine = tuple(entry for entry in self.open if (entry.holder, entry.attempt) == (holder, attempt))
        names = amounts.keys() | {entry.resource for entry in mine}
        more = {name: amounts.get(name, 0) - total(mine, name) for name in names}
        short = shortage(more, {name: self.standing(name) for name in names})
        if short is not None:
            return short
        others = tuple(entry for entry in self.open if entry not in mine)
        fresh = tuple(Entry(holder, attempt, name, amounts[name]) for name in sorted(amounts) if amounts[name] > 0)
        return replace(self, open=others + fresh)

    def release(self, holder: str, attempt: int | None = None) -> Books:
        """Without what the holder's attempt (every attempt when None) holds; holding nothing is harmless."""
        kept = tuple(
            entry for entry in self.open if entry.holder != holder or (attempt is not None and entry.attempt != attempt)
        )
        return replace(self, open=kept)

    def explain(self, resource: str) -> Explanation:
        """Who holds the resource, beside its standing."""
        holders = dict.fromkeys(entry.holder for entry in self.open if entry.resource == resource)
        return Explanation(self.standing(resource), tuple(holders))


@dataclass(frozen=True, slots=True)
class Drift:
    """One quota whose kept sum and whose ledger disagree: an alarm, never repaired in silence (domain.md §6)."""

    quota: int
    held: int
    ledger: int


def drift(held: Mapping[int, int], ledger: Mapping[int, int]) -> tuple[Drift, ...]:
    """Quotas (by key) whose ``held`` is not the sum of their open reservations."""
    keys = sorted(held.keys() | ledger.keys())
    pairs = ((key, held.get(key, 0), ledger.get(key, 0)) for key in keys)
    return tuple(Drift(key, kept, summed) for key, kept, summed in pairs if kept != summed)


def limit_fault(limit: object) -> str | None:
    """Why this is no limit: not a whole number (fractions, infinities, booleans), negative, or above 2**53."""
    if isinstance(limit, bool) or not isinstance(limit, int):
        return _("a limit is a whole number")
    if limit < 0:
        return _("a limit is never negative")
    if limit > LARGEST_LIMIT:
        return _("a limit is at most %(most)d", most=LARGEST_LIMIT)
    return None


def resource_fault(resource: str) -> str | None:
    """Why this names no resource that a quota can limit."""
    if len(resource) <= LONGEST_RESOURCE and RESOURCE.fullmatch(resource):
        return None
    return _("a resource is cpu, memory or cards:<mark>")


def parse_defaults(text: str) -> dict[str, int]:
    """``cpu=32,memory=128Gi,cards:a100-80g=2`` to amounts per resource; raises QuantityError naming the bad part."""
    amounts: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        resource, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or resource_fault(resource) is not None:
            raise QuantityError(f"“{part}” is no quota; write for example cpu=32, memory=128Gi or cards:a100-80g=2")
        parse = {"cpu": parse_cpu, "memory": parse_memory}.get(resource, parse_count)
        amounts[resource] = parse(value)
    return amounts
