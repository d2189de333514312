"""What /proc says about a tree of processes (Linux; elsewhere the tree is empty)."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(root: int) -> list[int]:
    """Pids of all children of children of `root`, without `root`."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        try:
            tasks = list(Path(f"/proc/{parent}/task").iterdir())
            children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
        except OSError:
            continue
        found += children
        waiting += children
    return found


def resident_bytes(root: int) -> int:
    """Memory that the tree below `root`, without it, holds resident."""
    total = 0
    for pid in descendants(root):
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
    return total
