"""`python -m devkube.shipper`: ships the logs of one agent's data folder."""

from __future__ import annotations

import asyncio
import logging
import signal
from pathlib import Path
from typing import Annotated

import typer

from devkube.agent.api import Api
from devkube.shipper.metadata import Metadata
from devkube.shipper.shipping import Limits, Shipper
from devkube.shipper.sink import Sink


def main(
    server: Annotated[str, typer.Option(help="URL of the Kubernetes API server.")],
    token: Annotated[str, typer.Option(envvar="DEVKUBE_TOKEN", help="Bearer token for the API server.")],
    data_dir: Annotated[Path, typer.Option(help="The agent's data folder.")],
    sink_url: Annotated[str, typer.Option(help="Where to post, as `uri` of Vector's http sink.")],
    sink_token: Annotated[str, typer.Option(envvar="DEVKUBE_SINK_TOKEN", help="Bearer token for the receiver.")],
    ca: Annotated[Path | None, typer.Option(help="Certificate to trust for https.")] = None,
    batch_seconds: Annotated[float, typer.Option(help="Seconds between two batches.")] = 0.2,
    partial_seconds: Annotated[float, typer.Option(help="Seconds until a line without its end is sent.")] = 30.0,
) -> None:
    """Ship until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)

    async def work() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        api, sink = Api(server, token, ca), Sink(sink_url, sink_token)
        metadata = Metadata(api, data_dir)
        watching = asyncio.create_task(metadata.run())
        limits = Limits(seconds=batch_seconds, patience=partial_seconds)
        await Shipper(data_dir, metadata, sink, limits).run(stop)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await sink.aclose()
        await api.aclose()

    asyncio.run(work())


if __name__ == "__main__":
    typer.run(main)
