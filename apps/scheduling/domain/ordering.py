"""Whose turn it is: priority, then the scope with the smallest dominant share, then submit time (domain.md §7)."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from apps.kernel.resources import Bundle
from apps.scheduling.domain.snapshot import NodeView, PoolView, QueuedTask, RunningShare
from apps.tasks.domain.spec import Priority

MILLION = 1_000_000


def amounts(amount: Bundle, mark: str | None) -> dict[str, int]:
    """A bundle by resource name: millicores, MiB, and pieces of its mark."""
    named = {"cpu": int(amount.cpu), "memory": int(amount.memory)}
    return named | ({f"cards:{mark}": int(amount.cards)} if mark is not None else {})


class Shares:
    """How much of the public pools each scope has, in millionths of the resource it has most of.

    A Project's own pool does not count: using it takes nothing from anybody.
    """

    def __init__(self, nodes: Iterable[NodeView], pools: Iterable[PoolView], running: Iterable[RunningShare]) -> None:
        self._public = {pool.id for pool in pools if pool.is_public}
        self._capacity: dict[str, int] = {}
        self._held: dict[str, dict[str, int]] = {}
        for node in nodes:
            if node.pool_id in self._public:
                _add(self._capacity, amounts(node.capacity, node.mark))
        for share in running:
            self.add(share.scope, share.pool_id, share.mark, share.amount)

    def add(self, scope: str, pool_id: int, mark: str | None, amount: Bundle) -> None:
        """The scope has so much more of that pool."""
        if pool_id in self._public:
            _add(self._held.setdefault(scope, {}), amounts(amount, mark))

    def dominant(self, scope: str) -> int:
        """The scope's largest share of any resource, in millionths."""
        held = self._held.get(scope, {})
        return max((_share(held[name], self._capacity.get(name, 0)) for name in held), default=0)


def _add(sums: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        sums[name] = sums.get(name, 0) + amount


def _share(held: int, capacity: int) -> int:
    return held * MILLION // capacity if capacity else (MILLION if held else 0)


def in_turn(queued: Iterable[QueuedTask], shares: Shares) -> Iterator[QueuedTask]:
    """Every queued task once; what the caller adds to ``shares`` between two of them counts for the next choice."""
    ordered = sorted(queued, key=lambda task: (task.submitted, task.id))
    for priority in Priority:
        lines: dict[str, deque[QueuedTask]] = {}
        for task in ordered:
            if task.priority is priority:
                lines.setdefault(task.scope, deque()).append(task)
        yield from _fairly(lines, shares)


def _fairly(lines: dict[str, deque[QueuedTask]], shares: Shares) -> Iterator[QueuedTask]:
    waiting = [(shares.dominant(scope), line[0].submitted, line[0].id, scope) for scope, line in lines.items()]
    heapq.heapify(waiting)
    while waiting:
        scope = heapq.heappop(waiting)[3]
        line = lines[scope]
        yield line.popleft()
        if line:
            heapq.heappush(waiting, (shares.dominant(scope), line[0].submitted, line[0].id, scope))
