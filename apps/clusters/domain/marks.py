"""Kinds of card as values (domain.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.kernel.resources import Bundle, Cards, MiB, Millicores


@dataclass(frozen=True, slots=True)
class MarkFacts:
    """One mark: the cpu (millicores) and memory (MiB) bound to a card, and how its nodes are selected."""

    mark: str
    resource_name: str
    cards_per_node: int
    cpu_per_card: Millicores
    memory_per_card: MiB
    node_selector: Mapping[str, str] = field(default_factory=dict)
    is_device: bool = False
    label: str = ""
    price_per_card_hour: int = 0

    def share(self, cards: int) -> Bundle:
        """What ``cards`` cards bring with them: the bound share that a reservation books (domain.md §4)."""
        return Bundle(Millicores(self.cpu_per_card * cards), MiB(self.memory_per_card * cards), Cards(cards))
