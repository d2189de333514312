"""What every benchmark shares: real servers of its own, percentiles, and the one JSON line that product.md fixes.

The reference is measured in the same run, interleaved with the figure where both are many small steps, so that a slow
moment of the machine falls on both.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.fernet import Fernet

from devkube.demo.servers import PostgresServer, ValkeyServer


@dataclass(frozen=True, slots=True)
class Result:
    """One figure with its reference; ``ratio`` is figure ÷ reference."""

    name: str
    figure: float
    unit: str
    reference: float
    reference_name: str
    details: dict[str, object] = field(default_factory=dict)

    def print(self) -> None:
        """The last line of stdout (product.md, figures)."""
        ratio = self.figure / self.reference if self.reference else None
        print(
            json.dumps(
                {
                    "name": self.name,
                    "figure": round(self.figure, 3),
                    "unit": self.unit,
                    "reference": round(self.reference, 3),
                    "reference_name": self.reference_name,
                    "ratio": round(ratio, 3) if ratio is not None else None,
                    "details": self.details,
                }
            )
        )


def say(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of unsorted values; ``share`` 0.95 is p95."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@contextmanager
def platform() -> Iterator[Path]:
    """A fresh PostgreSQL and Valkey, Django set up and migrated against them; yields the run's own folder."""
    folder = Path(tempfile.mkdtemp(prefix="platform-bench-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        say("starting PostgreSQL and Valkey")
        postgres = stack.enter_context(PostgresServer(folder / "postgres"))
        valkey = stack.enter_context(ValkeyServer(folder / "valkey"))
        os.environ |= {
            "PLATFORM_DATABASE_URL": postgres.url,
            "PLATFORM_REDIS_URL": valkey.url,
            "PLATFORM_SECRET_KEY": secrets.token_urlsafe(50),
            "PLATFORM_SEALING_KEYS": Fernet.generate_key().decode(),
            "PLATFORM_LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "platform_site.settings.dev",
        }
        import django  # noqa: PLC0415 - settings are read at import, after the servers have addresses

        django.setup()
        from django.conf import settings  # noqa: PLC0415 - as above
        from django.core.management import call_command  # noqa: PLC0415 - as above

        settings.DEBUG = False
        say("migrating")
        call_command("migrate", verbosity=0)
        yield folder
