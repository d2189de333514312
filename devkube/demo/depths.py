"""On what the demo's clusters run: the embedded API server or a real control plane. All else stays the same."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from devkube.demo.readiness import Says, answers

CRASH_BACKOFF = "2"
Ready = Callable[[], Awaitable[bool]]


class Depth(Protocol):
    """What the plan asks of one cluster in `folder` whose API server listens on `port`."""

    def prepare(self) -> None:
        """Make what has to be there before the first process starts."""

    @property
    def server(self) -> str:
        """The API server's address."""

    @property
    def ca(self) -> str | None:
        """The certificates to trust, as PEM text."""

    def words(self) -> Sequence[str]:
        """The words for python that run the cluster."""

    def ready(self, token: str, says: Says) -> Ready:
        """Whether the cluster serves; `says` is asked of its log."""

    def client_words(self) -> Sequence[str]:
        """What the agent and the shipper are told beside the address."""

    def agent_words(self) -> Sequence[str]:
        """What the agent alone is told."""

    def agent_ready(self, port: int) -> Ready:
        """Whether the agent serves."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The embedded API server: in Python, up in a second."""

    name: str
    folder: Path
    port: int
    ca: str | None = None

    def prepare(self) -> None:
        """Nothing is needed."""

    @property
    def server(self) -> str:
        """Plain HTTP on loopback."""
        return f"http://127.0.0.1:{self.port}"

    def words(self) -> Sequence[str]:
        """Its command line."""
        words = ["-m", "devkube.embedded", "--port", str(self.port), "--name", self.name]
        return [*words, "--data-dir", str(self.folder / "api"), "--job-backoff", CRASH_BACKOFF]

    def ready(self, token: str, says: Says) -> Ready:
        """It answers."""
        return answers(f"{self.server}/version", token)

    def client_words(self) -> Sequence[str]:
        """There is no certificate."""
        return []

    def agent_words(self) -> Sequence[str]:
        """The token is enough."""
        return []

    def agent_ready(self, port: int) -> Ready:
        """Plain HTTP on loopback."""
        return answers(f"http://127.0.0.1:{port}/healthz")


class Real:
    """A control plane of the real programs (devkube.real), built before by `make kube-tools`."""

    def __init__(self, name: str, folder: Path, port: int) -> None:
        """Nothing is made before `prepare`."""
        self._name, self._folder, self._port = name, folder / "plane", port
        self._secrets = self._folder / "secrets"

    def prepare(self) -> None:
        """Make the certificates; raises ToolsMissingError."""
        from devkube.real.control_plane import PROGRAMS  # noqa: PLC0415 - the embedded demo needs none of it
        from devkube.real.credentials import Credentials  # noqa: PLC0415 - as above
        from devkube.real.tools import Toolbox  # noqa: PLC0415 - as above

        Toolbox().require(PROGRAMS)
        Credentials(self._secrets)

    @property
    def server(self) -> str:
        """HTTPS on loopback."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def ca(self) -> str | None:
        """The plane's own authority."""
        return (self._secrets / "ca.crt").read_text()

    def words(self) -> Sequence[str]:
        """Its command line."""
        words = ["-m", "devkube.real", "--name", self._name, "--folder", str(self._folder)]
        return [*words, "--port", str(self._port)]

    def ready(self, token: str, says: Says) -> Ready:
        """All four programs serve."""
        return says("control plane is ready")

    def client_words(self) -> Sequence[str]:
        """The authority to trust."""
        return ["--ca", str(self._secrets / "ca.crt")]

    def agent_words(self) -> Sequence[str]:
        """The real API server asks its nodes over TLS and shows a certificate."""
        return ["--tls", str(self._secrets / "server")]

    def agent_ready(self, port: int) -> Ready:
        """As the API server asks."""
        trust = ssl.create_default_context(cafile=str(self._secrets / "ca.crt"))
        trust.load_cert_chain(self._secrets / "server.crt", self._secrets / "server.key")
        return answers(f"https://127.0.0.1:{port}/healthz", trust=trust)
