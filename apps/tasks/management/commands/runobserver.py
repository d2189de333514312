"""``manage.py runobserver``: watch every cluster this process can become the leader of."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from apps.tasks.loop import Observers

LOOK_SECONDS = 1.0


class Command(BaseCommand):
    """Run until SIGTERM or SIGINT; several may run, one leads each cluster."""

    help = "Watch the clusters and record what their tasks and machines do."

    def handle(self, *_args: Any, **_options: Any) -> None:
        stop = threading.Event()

        def end(_number: int, _frame: FrameType | None) -> None:
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        observers = Observers()
        self.stdout.write("observer started")
        self.stdout.flush()
        while not stop.wait(LOOK_SECONDS):
            observers.look()
        observers.close()
