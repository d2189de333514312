"""Which processes make the demo, with which words and settings, and how each says that it is ready."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from devkube.demo.depths import CRASH_BACKOFF, Depth, Embedded
from devkube.demo.installation import Installation, random_sealing_key, random_token, write_private
from devkube.demo.plant import CLUSTERS
from devkube.demo.readiness import answers, at_once, says
from devkube.demo.servers import PostgresServer, Server, ValkeyServer
from devkube.demo.supervisor import Program

ROOT = Path(__file__).resolve().parents[2]
WEB_PORT = 8000
SETTINGS = "platform_site.settings.demo"


class Plan:
    """All programs of one start; choosing ports and secrets happens here."""

    def __init__(self, installation: Installation, depth: Callable[[str, Path, int], Depth] = Embedded) -> None:
        """Reads or makes secrets and ports; starts nothing. `depth` makes a cluster of a name, folder and port."""
        self.home = installation.home
        self._installation = installation
        makers: dict[str, Callable[[], str]] = {"PLATFORM_SECRET_KEY": lambda: random_token() + random_token()}
        makers["PLATFORM_SEALING_KEYS"] = random_sealing_key
        for name in CLUSTERS:
            makers |= {f"CLUSTER_TOKEN_{name}": random_token, f"INGEST_TOKEN_{name}": random_token}
        self._secrets = installation.secrets(makers)
        wanted: dict[str, int | None] = {"web": WEB_PORT, "postgres": None, "valkey": None}
        wanted |= {f"{kind}-{name}": None for name in CLUSTERS for kind in ("cluster", "agent")}
        self._ports = installation.ports(wanted)
        self._depths = {
            name: depth(name, self.home / "clusters" / name, self._ports[f"cluster-{name}"]) for name in CLUSTERS
        }
        self.postgres = PostgresServer(self.home / "postgres", port=self._ports["postgres"])
        self.valkey = ValkeyServer(self.home / "valkey", port=self._ports["valkey"])

    @property
    def url(self) -> str:
        """The address that people open."""
        return f"http://127.0.0.1:{self._ports['web']}"

    async def prepare(self) -> None:
        """Make what has to be there before the first process starts."""
        for server in (self.postgres, self.valkey):
            await asyncio.to_thread(server.prepare)
        plant = []
        for name, nodes in CLUSTERS.items():
            folder = self.home / "clusters" / name
            folder.mkdir(parents=True, exist_ok=True)
            write_private(folder / "nodes.json", json.dumps(nodes))
            tokens = {"token": self._secret("CLUSTER", name), "ingest_token": self._secret("INGEST", name)}
            depth = self._depths[name]
            await asyncio.to_thread(depth.prepare)
            plant.append({"name": name, "server": depth.server, "ca": depth.ca, **tokens})
        write_private(self.home / "clusters.json", json.dumps(plant))

    def foundation(self) -> list[Program]:
        """Databases and clusters."""
        return [self._database(self.postgres), self._database(self.valkey), *(self._cluster(name) for name in CLUSTERS)]

    def nodes(self) -> list[Program]:
        """The agents."""
        return [self._agent(name) for name in CLUSTERS]

    def platform(self) -> list[Program]:
        """The platform's own processes."""
        celery = ["-m", "celery", "-A", "platform_site.celery"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        web = [
            "-m",
            "uvicorn",
            "platform_site.asgi:application",
            "--host",
            "127.0.0.1",
            "--port",
            str(self._ports["web"]),
        ]
        schedule = self.home / "beat-schedule"
        return [
            self._django(
                "web",
                [*web, "--no-access-log", "--timeout-graceful-shutdown", "3"],
                answers(f"{self.url}/readyz"),
                port=self._ports["web"],
            ),
            self._django(
                "worker",
                [*celery, "worker", "-l", "INFO", "-c", "2", "-n", "demo@%h", *quiet],
                self._says("worker", "ready."),
            ),
            self._django(
                "beat",
                [*celery, "beat", "-l", "INFO", "-s", str(schedule), "--pidfile="],
                self._says("beat", "beat: Starting..."),
            ),
            self._django("observer", ["manage.py", "runobserver"], self._says("observer", "observer started")),
        ]

    def shippers(self) -> list[Program]:
        """The log shippers; they come last, when there is somebody to listen."""
        return [self._shipper(name) for name in CLUSTERS]

    def chores(self) -> list[tuple[str, list[str]]]:
        """What runs once on each start, in order, as (what it does, words for python)."""
        seed = ["manage.py", "seed_demo", "--clusters", str(self.home / "clusters.json")]
        seed += ["--access", str(self._installation.access), "--url", self.url]
        return [("tables", ["manage.py", "migrate", "--no-input"]), ("people, quotas, clusters", seed)]

    def fingerprint(self) -> str:
        """Changes with the migrations, the seed and the addresses: while it stays, the chores need not run again."""
        digest = hashlib.sha256(self.url.encode())
        sources = [
            *ROOT.glob("apps/*/migrations/*.py"),
            *ROOT.glob("apps/dashboard/**/*.py"),
            ROOT / "requirements.lock",
        ]
        for path in [*sorted(sources), self.home / "clusters.json"]:
            digest.update(path.name.encode() + path.read_bytes() if path.exists() else b"")
        return digest.hexdigest()

    def environment(self) -> dict[str, str]:
        """The settings of the platform's processes; settings of the shell that calls do not leak in."""
        own = {
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "PLATFORM_SECRET_KEY": self._secrets["PLATFORM_SECRET_KEY"],
            "PLATFORM_SEALING_KEYS": self._secrets["PLATFORM_SEALING_KEYS"],
            "PLATFORM_DATABASE_URL": self.postgres.url,
            "PLATFORM_REDIS_URL": self.valkey.url,
            "PLATFORM_ALLOWED_HOSTS": "127.0.0.1,localhost",
            "PLATFORM_ORIGINS": f"{self.url},http://localhost:{self._ports['web']}",
            "PYTHONUNBUFFERED": "1",
        }
        return inherited_environment() | own

    # -- single programs --------------------------------------------------------------------------------------------

    def _secret(self, kind: str, cluster: str) -> str:
        return self._secrets[f"{kind}_TOKEN_{cluster}"]

    def _database(self, server: Server) -> Program:
        async def ready() -> bool:
            return await asyncio.to_thread(server.ready)

        stop = signal.Signals(server.stop_signal)
        env = inherited_environment()
        return Program(server.name, server.argv, server.folder, ready, env, server.account, stop, port=server.port)

    def _cluster(self, name: str) -> Program:
        token, title = self._secret("CLUSTER", name), f"cluster {name}"
        depth = self._depths[name]
        ready = depth.ready(token, says(self._installation.logs / f"{title}.log"))
        return self._python(title, depth.words(), {"DEVKUBE_TOKEN": token}, ready)

    def _agent(self, name: str) -> Program:
        folder, port, depth = self.home / "clusters" / name, self._ports[f"agent-{name}"], self._depths[name]
        words = ["-m", "devkube.agent", "--server", depth.server, "--nodes", str(folder / "nodes.json")]
        words += ["--data-dir", str(folder / "agent"), "--port", str(port), "--backoff", CRASH_BACKOFF]
        words += [*depth.client_words(), *depth.agent_words()]
        token = {"DEVKUBE_TOKEN": self._secret("CLUSTER", name)}
        return self._python(f"nodes of {name}", words, token, depth.agent_ready(port))

    def _shipper(self, name: str) -> Program:
        depth = self._depths[name]
        words = ["-m", "devkube.shipper", "--server", depth.server, "--sink-url", f"{self.url}/ingest/vector"]
        words += depth.client_words()
        words += ["--data-dir", str(self.home / "clusters" / name / "agent"), "--partial-seconds", "2"]
        tokens = {"DEVKUBE_TOKEN": self._secret("CLUSTER", name), "DEVKUBE_SINK_TOKEN": self._secret("INGEST", name)}
        return self._python(f"logs of {name}", words, tokens, at_once)

    def _django(
        self, name: str, words: list[str], ready: Callable[[], Awaitable[bool]], *, port: int | None = None
    ) -> Program:
        return Program(name, [sys.executable, *words], ROOT, ready, self.environment(), grace=25.0, port=port)

    def _python(
        self, name: str, words: Sequence[str], extra: dict[str, str], ready: Callable[[], Awaitable[bool]]
    ) -> Program:
        env = {**inherited_environment(), **extra, "PYTHONUNBUFFERED": "1"}
        return Program(name, [sys.executable, *words], ROOT, ready, env)

    def _says(self, name: str, words: str) -> Callable[[], Awaitable[bool]]:
        return says(self._installation.logs / f"{name}.log")(words)


def inherited_environment() -> dict[str, str]:
    """The caller's environment without foreign settings; compiled modules are kept, for a quick second start."""
    left_out = ("PLATFORM_", "DJANGO_", "DEVKUBE_", "PYTHONDONTWRITEBYTECODE")
    return {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
