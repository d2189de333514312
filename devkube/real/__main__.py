"""`python -m devkube.real --name NAME --folder DIR --port PORT`: one control plane in the foreground, until SIGTERM.

The admin's token comes in the variable DEVKUBE_TOKEN. Prints READY once pods can be made; ends with code 1 when one of
its programs died, so that whoever supervises it starts it anew.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from devkube.real.control_plane import ControlPlane
from devkube.real.daemon import StartError
from devkube.real.tools import ToolsMissingError

READY = "control plane is ready"
LOOK_SECONDS = 0.5


def main(words: list[str] | None = None) -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="devkube.real", description="A real Kubernetes control plane.")
    parser.add_argument("--name", default="real")
    parser.add_argument("--folder", type=Path, required=True, help="for its data, secrets and logs")
    parser.add_argument("--port", type=int, default=0, help="of the API server; 0 takes any free port")
    given = parser.parse_args(words)
    token = os.environ.get("DEVKUBE_TOKEN", "")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        plane = ControlPlane(given.name, given.folder, token=token, port=given.port, durable=True)
        with plane:
            print(f"{given.name}: {READY} at {plane.url}, kubeconfig {plane.kubeconfig}", flush=True)
            while not stop.wait(LOOK_SECONDS):
                if dead := [part for part in plane.parts.values() if not part.alive]:
                    print(f"{dead[0].name} died; its log is {dead[0].log}", file=sys.stderr)
                    return 1
    except (StartError, ToolsMissingError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
