"""`python -m devkube.embedded --port 0 --data-dir DIR --token TOKEN`."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from devkube.embedded.controllers.runtime import Timing
from devkube.embedded.server import Settings, serve
from devkube.embedded.store import HISTORY


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="devkube.embedded", description="A small Kubernetes cluster for development.")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--tls-port", type=int, default=0, help="the same over TLS, for kubectl; 0 takes any free port")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--token", default="", help="the admin's bearer token (default: the variable DEVKUBE_TOKEN)")
    parser.add_argument("--name", default="embedded")
    parser.add_argument("--ready-file", type=Path, help="written as JSON (name, url, pid) when the API answers")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input is closed")
    parser.add_argument("--history", type=int, default=HISTORY, help="changes kept per resource for watches")
    parser.add_argument("--bookmark-seconds", type=float, default=60.0)
    parser.add_argument("--spread", action="store_true", help="prefer emptier nodes instead of fuller ones")
    parser.add_argument("--job-backoff", type=float, default=10.0, help="first wait before a failed pod is replaced")
    parser.add_argument("--node-grace", type=float, default=40.0, help="silence after which a node is not ready")
    parser.add_argument("--node-gone", type=float, default=60.0, help="wait before a lost node's pods are removed")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Run the cluster; returns the exit code."""
    given = _arguments(words)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    token = given.token or os.environ.get("DEVKUBE_TOKEN", "")
    if not token:
        sys.stderr.write("a token is needed: --token or DEVKUBE_TOKEN\n")
        return 2
    settings = Settings(
        folder=given.data_dir,
        token=token,
        port=given.port,
        tls_port=given.tls_port,
        name=given.name,
        ready_file=given.ready_file,
        history=given.history,
        bookmark_seconds=given.bookmark_seconds,
        pack=not given.spread,
        with_parent=given.with_parent,
        timing=Timing(given.job_backoff, given.node_grace, given.node_gone),
    )
    try:
        asyncio.run(serve(settings))
    except BlockingIOError:
        sys.stderr.write(f"another process uses {given.data_dir}\n")
        return 3
    except OSError as failed:
        sys.stderr.write(f"cannot start: {failed}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
