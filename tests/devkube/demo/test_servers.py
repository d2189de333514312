"""The servers of the demo and of the tests: started twice on one folder, stopped, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import psycopg
import pytest

from devkube.demo.servers import PostgresServer, ValkeyServer


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="servers-"))
    yield path
    rmtree(path)


def test_postgres_keeps_its_rows_over_a_restart_and_leaves_no_process(folder: Path) -> None:
    with PostgresServer(folder, durable=False) as first:
        with psycopg.connect(first.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        pid = first.process.pid if first.process else 0
    assert not Path(f"/proc/{pid}").exists()
    with PostgresServer(folder, durable=False) as second, psycopg.connect(second.url) as connection:
        assert connection.execute("SELECT n FROM kept").fetchall() == [(42,)]


def test_postgres_refuses_a_wrong_password(folder: Path) -> None:
    with PostgresServer(folder, durable=False) as server:
        wrong = server.url.replace(server.password, "guessed")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)


def test_valkey_answers_with_its_password_only(folder: Path) -> None:
    with ValkeyServer(folder, durable=False) as server:
        right = server.ready()
        server.password = "guessed"
        assert (right, server.ready()) == (True, False)


def test_a_killed_parent_takes_its_server_along(folder: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from devkube.demo.servers import ValkeyServer\n"
        "server = ValkeyServer(Path(sys.argv[1]), durable=False).__enter__()\n"
        "print(server.process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    give_up = time.monotonic() + 5
    while Path(f"/proc/{child}").exists() and time.monotonic() < give_up:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()
