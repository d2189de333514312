"""The process: one event loop with the API, the controllers and the scheduler around one store."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette

from devkube.embedded import resources as r
from devkube.embedded.certificate import ensure
from devkube.embedded.controllers.bookkeeping import BudgetController, ClaimController, QuotaController
from devkube.embedded.controllers.deployment import DeploymentController
from devkube.embedded.controllers.events import Recorder
from devkube.embedded.controllers.evictions import EvictionController
from devkube.embedded.controllers.garbage import GarbageCollector
from devkube.embedded.controllers.job import JobController
from devkube.embedded.controllers.namespaces import NamespaceController
from devkube.embedded.controllers.nodes import NodeController
from devkube.embedded.controllers.replicaset import ReplicaSetController
from devkube.embedded.controllers.runtime import Context, Owned, Timing
from devkube.embedded.errors import ApiError
from devkube.embedded.http.app import build
from devkube.embedded.http.call import Api
from devkube.embedded.kubeconfig import write_kubeconfig
from devkube.embedded.objects import Obj
from devkube.embedded.registry import Registry
from devkube.embedded.scheduler.loop import Scheduler
from devkube.embedded.store import HISTORY, Store

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a cluster is started; port 0 means any free one; the same API answers over TLS at
    `tls_port`, because kubectl gives its token to nothing else."""

    folder: Path
    token: str
    port: int = 0
    tls_port: int = 0
    name: str = "embedded"
    ready_file: Path | None = None
    history: int = HISTORY
    bookmark_seconds: float = 60.0
    pack: bool = True
    with_parent: bool = False
    timing: Timing = field(default_factory=Timing)


def _bootstrap(registry: Registry) -> None:
    """Make the objects every cluster is born with."""
    first: list[tuple[r.Resource, Obj]] = [
        (r.NAMESPACES, {"metadata": {"name": name}})
        for name in ("default", "kube-system", "kube-public", "kube-node-lease")
    ]
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        first.append((r.PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value}))
    for resource, obj in first:
        with contextlib.suppress(ApiError):
            registry.create(resource, {"kind": resource.kind, "apiVersion": resource.api_version, **obj})


def workers(context: Context, settings: Settings) -> list[Coroutine[Any, Any, None]]:
    """Return the loops of the controllers and the scheduler."""
    return [
        JobController(context).queue.run(),
        ReplicaSetController(context).queue.run(),
        DeploymentController(context).queue.run(),
        GarbageCollector(context).queue.run(),
        NamespaceController(context).queue.run(),
        NodeController(context).queue.run(),
        EvictionController(context).queue.run(),
        QuotaController(context).queue.run(),
        BudgetController(context).queue.run(),
        ClaimController(context).queue.run(),
        Scheduler(context, pack=settings.pack).run(),
    ]


class _Server(uvicorn.Server):
    """Stops within a moment, also while watches are open."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # Signals are handled by `serve`.


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT."""
    store = Store(settings.folder, settings.history)
    registry = Registry(store)
    _bootstrap(registry)
    context = Context(registry, Owned(store), Recorder(registry), settings.timing)
    tasks = [asyncio.create_task(each) for each in workers(context, settings)]
    listeners = [_bind(settings.port), _bind(settings.tls_port)]
    app = build(Api(registry, settings.token, settings.bookmark_seconds))
    certificate, key = ensure(settings.folder)
    servers = [_server(app), _server(app, ssl_certfile=certificate, ssl_keyfile=key)]
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, _stop, servers)
    if settings.with_parent:
        loop.add_reader(sys.stdin.fileno(), _read_parent, servers)
    ports = [listener.getsockname()[1] for listener in listeners]
    tasks.append(asyncio.create_task(_announce(servers, settings, ports, certificate)))
    gc.freeze()
    try:
        pairs = zip(servers, listeners, strict=True)
        await asyncio.gather(*(server.serve(sockets=[listener]) for server, listener in pairs))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        store.close()


def _server(app: Starlette, **tls: Path) -> _Server:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        ws="websockets-sansio",
        **tls,  # type: ignore[arg-type] # paths of the certificate and its key
    )
    return _Server(config)


def _read_parent(servers: list[_Server]) -> None:
    """Stop when the other end of standard input is closed, which the death of its owner does as well."""
    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        _stop(servers)


def _stop(servers: list[_Server]) -> None:
    for server in servers:
        server.should_exit = True


def _bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # asyncio sets this only where the protocol is spelled out; without it each answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(512)
    return listener


async def _announce(servers: list[_Server], settings: Settings, ports: list[int], certificate: Path) -> None:
    while not all(server.started for server in servers):  # noqa: ASYNC110 # uvicorn sets a flag, not an event
        await asyncio.sleep(0.01)
    url, tls_url = f"http://127.0.0.1:{ports[0]}", f"https://127.0.0.1:{ports[1]}"
    write_kubeconfig(settings.folder / "kubeconfig", settings.name, tls_url, settings.token, certificate)
    if settings.ready_file:
        facts = {"name": settings.name, "url": url, "tls_url": tls_url, "pid": os.getpid()}
        temporary = settings.ready_file.with_suffix(".part")
        temporary.write_bytes(orjson.dumps(facts))
        temporary.replace(settings.ready_file)
    sys.stdout.write(f"{settings.name} is ready at {url}\n")
    sys.stdout.flush()
