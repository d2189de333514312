"""Start and stop an embedded cluster as a process of one's own (for tests and the demo)."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 20.0
STOP_SECONDS = 5.0


class EmbeddedCluster:
    """A running cluster: `url`, `token`, `kubeconfig`; no process is left after `stop`.

    Without `data_dir` the cluster lives in a temporary folder that goes with it. `extra` are further words of the
    command line. Raises RuntimeError when it does not come up in `START_SECONDS`.
    """

    def __init__(
        self,
        name: str = "embedded",
        data_dir: Path | str | None = None,
        token: str = "",
        *,
        port: int = 0,
        extra: Sequence[str] = (),
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="devkube-") if data_dir is None else None
        self.name, self.token = name, token or secrets.token_urlsafe(24)
        self.data_dir = Path(data_dir if data_dir is not None else str(self._temporary and self._temporary.name))
        self.port, self.extra = port, tuple(extra)
        self.url = ""
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def kubeconfig(self) -> Path:
        """Path of the kubeconfig file."""
        return self.data_dir / "kubeconfig"

    @property
    def log_file(self) -> Path:
        """Where the process writes what goes wrong."""
        return self.data_dir / "embedded.log"

    def start(self) -> Self:
        """Start the process and wait until it answers."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        ready = self.data_dir / "ready.json"
        ready.unlink(missing_ok=True)
        words = [sys.executable, "-m", "devkube.embedded", "--port", str(self.port), "--name", self.name]
        words += ["--data-dir", str(self.data_dir), "--ready-file", str(ready), "--with-parent", *self.extra]
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        variables = {**os.environ, "DEVKUBE_TOKEN": self.token, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                words, env=variables, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )
        self._await_ready(ready)
        return self

    def _await_ready(self, ready: Path) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if ready.exists():
                self.url = json.loads(ready.read_text())["url"]
                self.port = int(self.url.rsplit(":", 1)[1])
                return
            if self.process is not None and self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"the cluster {self.name} did not start: {self.log_file.read_text()[-2000:]}")

    def kill(self) -> None:
        """End the process without any warning to it."""
        if self.process is not None:
            self.process.kill()
            self._forget(self.process)

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        self.process = None

    def stop(self) -> None:
        """End the process; the data stays, unless the folder was temporary."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
            self._forget(self.process)
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
