"""The command line of `python -m devkube.agent`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from devkube.agent import early
from devkube.agent.api import Api
from devkube.agent.kubelet import Kubelet
from devkube.agent.nodes import read_nodes
from devkube.agent.serving import Endpoints, listening, remembered_port, server_of
from devkube.children import make_passable


def main(  # noqa: PLR0913, PLR0917 - typer reads the options of the command line from the parameters
    server: Annotated[str, typer.Option(help="URL of the Kubernetes API server.")],
    nodes: Annotated[Path, typer.Option(help="JSON file with the nodes to be (devkube.agent.nodes).")],
    data_dir: Annotated[Path, typer.Option(help="Folder for logs and running containers.")],
    token: Annotated[str, typer.Option(envvar="DEVKUBE_TOKEN", help="Bearer token for the API server.")],
    ca: Annotated[Path | None, typer.Option(help="Certificate to trust for https.")] = None,
    port: Annotated[
        int, typer.Option(help="Loopback port of the node's endpoints; 0 takes that of the last start or a free one.")
    ] = 0,
    open_endpoints: Annotated[
        bool, typer.Option(help="Let every local process ask for logs and exec, not only the holder of the token.")
    ] = False,
    tls: Annotated[Path | None, typer.Option(help="Serve https with TLS.crt, TLS.key to whom --ca signed.")] = None,
    backoff: Annotated[float, typer.Option(help="First back-off after a crash, in seconds.")] = 10.0,
    heartbeat: Annotated[float, typer.Option(help="Seconds between two renewals of a node's lease.")] = 10.0,
    keep_logs: Annotated[float, typer.Option(help="Seconds for which the logs of a deleted pod are kept.")] = 3600.0,
) -> None:
    """Run until SIGTERM or SIGINT; then stop every container and leave the pods to the next start."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    data = _made(data_dir.resolve())
    plans = read_nodes(nodes)
    wire = listening(port or remembered_port(data / "port"))
    bound = int(wire.getsockname()[1])

    async def work() -> None:
        stop = asked_to_stop()
        api = Api(server, token, ca)
        kubelet = Kubelet(api, plans, data, port=bound, backoff=backoff, heartbeat=heartbeat, keep_logs=keep_logs)
        trusted = (tls, ca) if tls and ca else None
        endpoints = Endpoints(kubelet, port=0 if trusted else bound, token="" if open_endpoints else token)
        http = server_of(endpoints, trusted)
        serving = asyncio.create_task(http.serve(sockets=[wire]))
        await kubelet.run(stop)
        http.should_exit = True
        await serving
        await api.aclose()

    asyncio.run(work())


def _made(data: Path) -> Path:
    data.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        make_passable(data)  # containers run as another user then
    return data


def asked_to_stop() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set; it is set already when one of them came while the agent was loading."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if early.asked:
        stop.set()
    return stop


def run() -> None:
    """Read the command line and work."""
    typer.run(main)
