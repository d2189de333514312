"""Which labels the platform writes on a node: its pool, and its mark where people select the mark by other labels.

CPU-only pods keep off machines with cards by ``platform/mark`` being absent (domain.md §4), so every machine with cards
must have it, in a pool or not. A label that people wrote themselves is only ever corrected, never taken away.
"""

from __future__ import annotations

from collections.abc import Mapping

POOL = "platform/pool"
MARK = "platform/mark"
MARK_WRITER = "platform/mark-written-by"
US = "platform"


def label_changes(
    labels: Mapping[str, str], *, pool: str | None, mark: str | None, selector: Mapping[str, str]
) -> dict[str, str | None]:
    """What to merge into the node's labels, None removing one; ``selector`` is the mark's. Empty where all is right."""
    wanted: dict[str, str | None] = {POOL: pool}
    if mark is None:
        if MARK_WRITER in labels:
            wanted |= {MARK: None, MARK_WRITER: None}
    elif MARK not in selector and labels.get(MARK) != mark:
        wanted |= {MARK: mark, MARK_WRITER: US}
    return {name: value for name, value in wanted.items() if labels.get(name) != value}
