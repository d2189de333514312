"""The shipper's loop: read a batch, post it, then move the checkpoints; one batch in memory at any time."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from devkube.agent.clock import monotonic
from devkube.shipper.metadata import Metadata
from devkube.shipper.shaping import Obj, event
from devkube.shipper.sink import Outcome, Sink
from devkube.shipper.tailing import Checkpoints, Tail, Tails


@dataclass(frozen=True, slots=True)
class Limits:
    """Batches: seconds between two, most events, most bytes of text; seconds until a lone part is given up."""

    seconds: float = 0.2
    events: int = 1000
    size: int = 1_000_000
    patience: float = 30.0


class Shipper:
    """Ships the logs below `data`/pods."""

    def __init__(self, data: Path, metadata: Metadata, sink: Sink, limits: Limits) -> None:
        """Reads the checkpoints; sends nothing yet."""
        self._metadata, self._sink, self._limits = metadata, sink, limits
        self._checkpoints = Checkpoints(data / "shipper.json")
        self._tails = Tails(data / "pods", self._checkpoints)
        self._first = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Ship until `stop`, then once more what is there."""
        while not stop.is_set():
            full = await self._round(stop)
            if not full:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._limits.seconds)
        await self._round(stop)

    async def _round(self, stop: asyncio.Event) -> bool:
        """Ship one batch; true when there is more to read at once."""
        tails = await asyncio.to_thread(self._tails.look)
        events, full = self._collect(tails)
        offsets = {tail.identity: tail.safe for tail in tails}
        if events and await self._sink.send(events, stop) is Outcome.STOPPED:
            return False
        if events:
            self._checkpoints.move(offsets, known=set(offsets))
        return full

    def _collect(self, tails: list[Tail]) -> tuple[list[Obj], bool]:
        events: list[Obj] = []
        size, now = 0, monotonic()
        # Goes on where the last batch was full, so that one loud container cannot keep the others waiting.
        first = self._first % max(1, len(tails))
        for at, tail in enumerate(tails[first:] + tails[:first]):
            around = self._metadata.around(tail.source)
            for message in tail.messages(now, self._limits.patience):
                events.append(event(message, tail.source, around))
                size += len(message.text) + 512
            if len(events) >= self._limits.events or size >= self._limits.size:
                self._first = first + at + 1
                return events, True
        return events, False
