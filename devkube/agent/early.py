"""Signals that come while the agent is still loading. Imports nothing heavy, on purpose."""

from __future__ import annotations

import signal

asked: list[int] = []


def listen() -> None:
    """Remember SIGTERM and SIGINT in `asked` instead of dying: what an earlier agent left must be stopped too."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: asked.append(number))
