"""The node's own endpoints, which the API server calls: logs, exec, health.

They listen on loopback. Without TLS they answer only to the agent's own API token, which the embedded API server sends;
with it (`--tls`) only to a certificate of the cluster's authority, which the real API server shows.
Without a token (`--open-endpoints`, for an API server that sends none) they answer to every process of this machine,
but never to a web page: a request that carries an Origin or another Host is refused.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import ssl
from collections.abc import Generator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from devkube.agent import clock, executing
from devkube.agent.kubelet import Kubelet
from devkube.agent.reading import LogQuery, read
from devkube.agent.runs import Run
from devkube.children import free_port


class NotHereError(LookupError):
    """No such pod, container or run on this node; the message is kubelet's."""


class Endpoints:
    """The HTTP application of one agent."""

    def __init__(self, kubelet: Kubelet, *, port: int, token: str = "") -> None:
        """`token` empty: every local process may ask. `port` 0: the connection has already shown who asks."""
        self._kubelet, self._port, self._token = kubelet, port, token
        place = "{namespace}/{pod}/{container}"
        self.app = Starlette(
            routes=[
                Route("/healthz", self.healthz),
                Route(f"/containerLogs/{place}", self.logs),
                WebSocketRoute(f"/exec/{place}", self.exec),
            ]
        )

    def _trusted(self, headers: Headers) -> bool:
        if not self._port:
            return True
        if "origin" in headers or headers.get("host") != f"127.0.0.1:{self._port}":
            return False
        given = headers.get("authorization", "")
        return not self._token or hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    async def healthz(self, request: Request) -> Response:
        """Answer ok."""
        return PlainTextResponse("ok")

    async def logs(self, request: Request) -> Response:
        """GET /containerLogs/{namespace}/{pod}/{container}."""
        if not self._trusted(request.headers):
            return PlainTextResponse("Unauthorized", 401)
        try:
            query = log_query(request.query_params)
            run = self._run(request.path_params, previous=request.query_params.get("previous") == "true")
        except NotHereError as error:
            return PlainTextResponse(str(error), 404 if str(error).startswith("pod ") else 400)
        except ValueError as error:
            return PlainTextResponse(str(error), 400)
        path = self._path(run)
        lines = read(path, query, lambda: run.ended() is None)
        return StreamingResponse(lines, media_type="text/plain")

    async def exec(self, websocket: WebSocket) -> None:
        """WebSocket /exec/{namespace}/{pod}/{container}?command=…"""
        if not self._trusted(websocket.headers):
            await websocket.send_denial_response(PlainTextResponse("Unauthorized", 401))
            return
        try:
            run = self._run(websocket.path_params, previous=False)
            if run.ended() is not None:
                raise NotHereError(f"container not running ({run.container})")
        except NotHereError as error:
            await websocket.send_denial_response(PlainTextResponse(str(error), 404))
            return
        asked = websocket.query_params
        # The real API server asks a kubelet in words of its own.
        words = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
        flags = {ours: _says_yes(asked, ours) or _says_yes(asked, theirs) for ours, theirs in words.items()}
        await executing.serve(websocket, run, executing.ExecQuery(asked.getlist("command"), **flags))

    def _run(self, place: dict[str, str], *, previous: bool) -> Run:
        worker = self._kubelet.worker_of(place["namespace"], place["pod"])
        if worker is None:
            raise NotHereError(f'pod "{place["pod"]}" not found')
        name = place["container"]
        if name not in worker.names():
            raise NotHereError(f'container "{name}" in pod "{place["pod"]}" is not available')
        runs = self._kubelet.runs.of(worker.uid, name)
        if previous:
            if len(runs) < 2:
                raise NotHereError(f'previous terminated container "{name}" in pod "{place["pod"]}" not found')
            return runs[-2]
        if not runs:
            why = worker.waiting_reason(name)
            raise NotHereError(f'container "{name}" in pod "{place["pod"]}" is waiting to start: {why}')
        return runs[-1]

    def _path(self, run: Run) -> Path:
        return Path(run.spec["log"])


def log_query(asked: QueryParams) -> LogQuery:
    """The query of a log request; raises ValueError naming the bad parameter."""
    numbers: dict[str, int | None] = {}
    for name in ("tailLines", "sinceSeconds", "limitBytes"):
        text = asked.get(name)
        if text is not None and not (text.isascii() and text.isdigit()):
            raise ValueError(f"{name} must be a whole number")
        numbers[name] = int(text) if text is not None else None
    since = clock.parse_nano(asked["sinceTime"]) if asked.get("sinceTime") else None
    if numbers["sinceSeconds"] is not None:
        since = clock.nanoseconds() - numbers["sinceSeconds"] * 1_000_000_000
    stream = {"Stdout": "stdout", "Stderr": "stderr"}.get(asked.get("stream", ""), "")
    on = {name: _says_yes(asked, name) for name in ("timestamps", "follow")}
    return LogQuery(numbers["tailLines"], since, on["timestamps"], numbers["limitBytes"], on["follow"], stream)


def _says_yes(asked: QueryParams, name: str) -> bool:
    return asked.get(name) in ("true", "1")


class Server(uvicorn.Server):
    """uvicorn without signal handlers of its own: the agent decides when to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Take no signal."""
        yield


def listening(port: int) -> socket.socket:
    """A loopback socket that the server will accept on; port 0 takes a free one. Raises OSError."""
    wire = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    wire.bind(("127.0.0.1", port))
    wire.listen(128)  # who asks before the server runs waits instead of being refused
    return wire


def remembered_port(file: Path) -> int:
    """The port of the last start when it is free, else any: the API server may still know the old one."""
    last = int(file.read_text()) if file.exists() else None
    port = free_port(last)
    file.write_text(str(port))
    return port


def server_of(endpoints: Endpoints, trusted: tuple[Path, Path] | None = None) -> Server:
    """A uvicorn server for the endpoints; run it with `serve(sockets=[…])`.

    `trusted` are the stem of our certificate's files and the authority that a client's certificate must be from: the
    real API server asks its nodes over https only, and shows one.
    """
    tls: dict[str, Any] = {}
    if trusted:
        stem, authority = trusted
        tls = {"ssl_certfile": f"{stem}.crt", "ssl_keyfile": f"{stem}.key"}
        tls |= {"ssl_ca_certs": str(authority), "ssl_cert_reqs": ssl.CERT_REQUIRED}
    config = uvicorn.Config(
        endpoints.app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1, **tls
    )
    return Server(config)
