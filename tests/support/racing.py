"""Letting several threads, each with its own connection, go at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from django.db import connection


def at_once(calls: Sequence[Callable[[], object]]) -> list[object]:
    """Every call in its own thread and connection, all let go together; faults are results too."""
    gate = threading.Barrier(len(calls))
    results: list[object] = [None] * len(calls)

    def run(place: int) -> None:
        try:
            gate.wait(timeout=10)
            results[place] = calls[place]()
        except Exception as fault:  # noqa: BLE001 - the test compares whatever came out of the thread
            results[place] = fault
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return results
