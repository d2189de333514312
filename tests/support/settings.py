"""Settings of the test command: starts a real PostgreSQL and Valkey unless the environment names some.

Done here because Django reads its settings before any fixture runs; parallel workers inherit the addresses.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from devkube.demo.servers import PostgresServer, ValkeyServer


def _start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="platform-tests-"))
    stack = ExitStack()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    postgres = stack.enter_context(PostgresServer(folder / "postgres", durable=False))
    valkey = stack.enter_context(ValkeyServer(folder / "valkey", durable=False))
    os.environ["PLATFORM_DATABASE_URL"] = postgres.url
    os.environ["PLATFORM_REDIS_URL"] = valkey.url
    owner = os.getpid()
    atexit.register(lambda: stack.close() if os.getpid() == owner else None)


if "PLATFORM_DATABASE_URL" not in os.environ:
    _start()

from platform_site.settings.test import *  # noqa: E402, F403 - the addresses must be known first
