"""Quantities of a machine as types: millicores, MiB and cards, never floats (style.md rule 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType, Self

Millicores = NewType("Millicores", int)
MiB = NewType("MiB", int)
Cards = NewType("Cards", int)

MIB_PER_GIB = 1024
MILLICORES_PER_CORE = 1000


@dataclass(frozen=True, slots=True)
class Bundle:
    """An amount of machine: cpu in millicores, memory in MiB, cards (or device pieces) of one mark."""

    cpu: Millicores = Millicores(0)
    memory: MiB = MiB(0)
    cards: Cards = Cards(0)

    def __add__(self, other: Bundle) -> Bundle:
        return Bundle(
            Millicores(self.cpu + other.cpu), MiB(self.memory + other.memory), Cards(self.cards + other.cards)
        )

    def __sub__(self, other: Bundle) -> Bundle:
        return Bundle(
            Millicores(self.cpu - other.cpu), MiB(self.memory - other.memory), Cards(self.cards - other.cards)
        )

    def __mul__(self, times: int) -> Bundle:
        return Bundle(Millicores(self.cpu * times), MiB(self.memory * times), Cards(self.cards * times))

    def covers(self, want: Bundle) -> bool:
        """Tell whether ``want`` fits into this amount in every dimension."""
        return self.cpu >= want.cpu and self.memory >= want.memory and self.cards >= want.cards

    def times_covering(self, want: Bundle) -> int:
        """How many whole ``want`` fit into this amount; ``want`` must ask for something."""
        counts = [
            have // need
            for have, need in ((self.cpu, want.cpu), (self.memory, want.memory), (self.cards, want.cards))
            if need > 0
        ]
        if not counts:
            raise ValueError("an empty bundle fits without end")
        return max(0, min(counts))

    def clamped(self) -> Self:
        """The same amount with nothing below zero: an oversubscribed node has no room, not negative room."""
        return type(self)(Millicores(max(0, self.cpu)), MiB(max(0, self.memory)), Cards(max(0, self.cards)))


NOTHING = Bundle()
