"""What every test may rely on: sockets to loopback only, a fixed clock, the cast of people, an empty Valkey."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from channels.layers import channel_layers
from django.conf import settings
from django.db import connection
from pytest_django import DjangoDbBlocker
from pytest_socket import socket_allow_hosts

from tests.support.world import World

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _loopback_only() -> None:
    """No test reaches beyond this machine."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture
def now() -> datetime:
    """The moment at which every test happens."""
    return NOON


@pytest.fixture
def world(db: None, now: datetime) -> World:
    """Alice (member), Olga (owner), Victor (viewer), Charlie (stranger), Ada (admin), Otto (auditor), a project."""
    return World(now)


@pytest.fixture(autouse=True)
def _fresh_channel_layer() -> None:
    """A layer keeps locks of the event loop that used it first, and every asynchronous test has a loop of its own."""
    channel_layers.backends.clear()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The tests' database, free of sessions when it is removed: tests of threads and of cut connections leave some."""
    yield
    with django_db_blocker.unblock():
        connection.close_pool()  # type: ignore[attr-defined] # of the PostgreSQL backend alone
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def _own_valkey_names() -> None:
    """Each parallel worker has its own channel prefix and broker queue, so workers never hear of each other's tasks."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    settings.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"test-{worker}"
    settings.CACHES["default"]["KEY_PREFIX"] = f"test-{worker}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out and why, a line a reason instead of a line a test."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(str(told[2]).removeprefix("Skipped: ") for told in skipped if isinstance(told, tuple))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} tests left out: {reason}", yellow=True)
