"""A real control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as child processes.

    with ControlPlane("beijing") as plane, plane.client() as http:
        http.get("/api/v1/nodes")

Planes are independent: `together(a, b, c)` starts several side by side.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from devkube.embedded.kubeconfig import write_kubeconfig
from devkube.real import commands
from devkube.real.credentials import MASTERS, Credentials, User
from devkube.real.daemon import Daemon, Folder, StartError, free_ports, stop_all
from devkube.real.tools import Toolbox

ETCD, APISERVER, MANAGER, SCHEDULER = PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
)
READY_SECONDS = 60.0
# For a durable etcd to close its files. All others keep nothing; the API server would only wait for its open watches.
CLOSE_SECONDS = 5.0
PORT_TRIES = 3
ADMIN = "admin"


class ControlPlane:
    """One cluster without nodes: `url`, `ca`, `token` (of the admin), `kubeconfig`, `client()`.

    `users` are further rows of the token file, for tests of rights. `extra` adds words to a program's command line by
    its name. Without `folder` it lives in a temporary one. `durable` waits for the disk, for data that is kept.
    Raises ToolsMissingError and StartError.
    """

    def __init__(
        self,
        name: str = "real",
        folder: Path | None = None,
        *,
        users: Sequence[User] = (),
        token: str = "",
        port: int = 0,
        extra: Mapping[str, Sequence[str]] | None = None,
        durable: bool = False,
        toolbox: Toolbox | None = None,
    ) -> None:
        """Makes folder and secrets; starts nothing. `token` and `port` are the admin's and the API server's."""
        self.toolbox = toolbox or Toolbox()
        self.toolbox.require(PROGRAMS)
        self.name, self._port, self._durable = name, port, durable
        self._extra = dict(extra or {})
        self._folder = Folder(folder, f"kube-{name}")
        self.folder, self.logs = self._folder.path, self._folder.logs
        self.secrets = Credentials(self.folder / "secrets")
        own = [User(ADMIN, (MASTERS,), token) if token else User(ADMIN, (MASTERS,))]
        own += [User(f"system:{MANAGER}", (MASTERS,)), User(f"system:{SCHEDULER}")]
        self._users = {user.name: user for user in (*own, *users)}
        self.parts: dict[str, Daemon] = {}
        self.url = self._etcd_url = ""
        self._trust = ssl.create_default_context(cafile=str(self.ca))
        self._probe = httpx.Client(verify=self._trust, timeout=2.0, trust_env=False)
        self._keeper = httpx.Client(verify=self._etcd_trust(), timeout=30.0, trust_env=False)

    # -- who gets in ------------------------------------------------------------------------------------------------

    @property
    def ca(self) -> Path:
        """The file with the certificate to trust."""
        return self.secrets.ca.certificate

    @property
    def token(self) -> str:
        """The admin's bearer token."""
        return self.token_of(ADMIN)

    def token_of(self, user: str) -> str:
        """The bearer token of a user by name."""
        return self._users[user].token

    @property
    def kubeconfig(self) -> Path:
        """The admin's kubeconfig file."""
        return self.write_kubeconfig(self.folder / "kubeconfig")

    def write_kubeconfig(self, path: Path, user: str = ADMIN) -> Path:
        """Write the kubeconfig of a user, mode 0600, and return its path."""
        write_kubeconfig(path, self.name, self.url, self.token_of(user), self.ca)
        return path

    def client(self, user: str = ADMIN, *, timeout: float = 30.0) -> httpx.Client:
        """An HTTP client of the API server that speaks as the user; close it."""
        headers = {"Authorization": f"Bearer {self.token_of(user)}"}
        return httpx.Client(base_url=self.url, headers=headers, verify=self._trust, timeout=timeout, trust_env=False)

    # -- start and stop ---------------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start everything and wait until it serves; raises StartError."""
        with together(self, leave_running=True):
            return self

    def begin(self) -> None:
        """Start etcd and the API server without waiting for them."""
        etcd, peer, apiserver, manager, scheduler = free_ports(5)
        ports = commands.Ports(etcd, peer, self._port or apiserver, manager, scheduler)
        self.url = f"https://127.0.0.1:{ports.apiserver}"
        self.secrets.write_tokens(list(self._users.values()))
        self.parts = self._daemons(ports)
        for name in (ETCD, APISERVER):
            self.parts[name].start()

    def finish(self) -> None:
        """Wait for them, start the controllers and the scheduler, wait until a pod can be made; raises StartError."""
        for attempt in range(1, PORT_TRIES + 1):
            try:
                self._finish(time.monotonic() + READY_SECONDS)
            except StartError as error:
                # Between choosing a port and using it another process may have taken it.
                if "address already in use" not in str(error) or attempt == PORT_TRIES or self._port:
                    raise
                self._stop_parts()
                self.begin()
            else:
                return

    def _finish(self, deadline: float) -> None:
        for name in (ETCD, APISERVER):
            self.parts[name].wait_ready(deadline)
        for name in (MANAGER, SCHEDULER):
            self.parts[name].start()
        for name in (MANAGER, SCHEDULER):
            self.parts[name].wait_ready(deadline)
        while not self._answers(f"{self.url}/api/v1/namespaces/default/serviceaccounts/default"):
            if time.monotonic() > deadline:
                raise StartError(f"{MANAGER} makes no service accounts; its log is {self.parts[MANAGER].log}")
            time.sleep(0.02)

    def stop(self, *, failed: bool = False) -> None:
        """Stop everything; a temporary folder goes, but for its logs when something failed or had died."""
        died = self._stop_parts()
        for line in died:
            print(f"! {self.name}: {line}")
        for client in (self._probe, self._keeper):
            client.close()
        self._folder.leave(keep_logs=failed or bool(died))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(failed=error is not None)

    # -- faults -----------------------------------------------------------------------------------------------------

    def kill_apiserver(self) -> None:
        """End the API server as a crash does; what it had acknowledged is in etcd."""
        self.parts[APISERVER].kill()

    def start_apiserver(self) -> None:
        """Start it again on its port and wait until it serves; tokens are read anew. Raises StartError."""
        self.secrets.write_tokens(list(self._users.values()))
        self.parts[APISERVER].start()
        self.parts[APISERVER].wait_ready(time.monotonic() + READY_SECONDS)

    def restart_apiserver(self) -> None:
        """Kill it and start it again."""
        self.kill_apiserver()
        self.start_apiserver()

    @contextlib.contextmanager
    def hung_apiserver(self) -> Iterator[None]:
        """Meanwhile the API server takes connections and says nothing."""
        self.parts[APISERVER].signal(SIGSTOP)
        try:
            yield
        finally:
            self.parts[APISERVER].signal(SIGCONT)

    def set_user(self, user: User) -> None:
        """Add a user or change a token; holds from the API server's next start."""
        self._users[user.name] = user

    def compact(self) -> int:
        """Make etcd forget all history before now; the revision that it now begins with."""
        revision = int(self._etcd("kv/range", key="eA==")["header"]["revision"])
        self._etcd("kv/compaction", revision=str(revision), physical=True)
        return revision

    def forget_history(self) -> None:
        """Make every older resourceVersion Gone (410): compaction, and an API server without its watch cache."""
        self.kill_apiserver()
        # The revision itself stays readable after a compaction, so something newer has to be written.
        self._etcd("kv/put", key=b64encode(b"/devkube/history").decode(), value="")
        self.compact()
        self.start_apiserver()

    # -- objects ----------------------------------------------------------------------------------------------------

    def apply(self, *files: Path) -> None:
        """Server-side apply of the custom resource definitions in YAML files; returns once their objects are served."""
        with self.client() as http:
            for body in (body for file in files for body in yaml.safe_load_all(file.read_text()) if body):
                http.patch(
                    f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{body['metadata']['name']}",
                    params={"fieldManager": "devkube", "force": "true"},
                    headers={"Content-Type": "application/apply-patch+yaml"},
                    content=yaml.safe_dump(body),
                ).raise_for_status()
                self._await_discovery(http, body["spec"])

    @staticmethod
    def _await_discovery(http: httpx.Client, spec: dict[str, Any]) -> None:
        """Whoever starts next looks into the discovery first, which comes a moment after the definition."""
        deadline, plural = time.monotonic() + READY_SECONDS, spec["names"]["plural"]
        for version in (each["name"] for each in spec["versions"] if each["served"]):
            group = f"/apis/{spec['group']}/{version}"
            while True:
                found = http.get(group)
                known = [each["name"] for each in found.json()["resources"]] if found.is_success else []
                if plural in known and http.get(f"{group}/{plural}", params={"limit": 1}).is_success:
                    break
                if time.monotonic() > deadline:
                    raise StartError(f"{group}/{plural} is not served")
                time.sleep(0.05)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _daemons(self, ports: commands.Ports) -> dict[str, Daemon]:
        admin = {name: self.folder / f"{name}.kubeconfig" for name in (MANAGER, SCHEDULER)}
        for name, path in admin.items():
            self.write_kubeconfig(path, f"system:{name}")
        self._etcd_url = f"https://127.0.0.1:{ports.etcd}"
        box, secrets = self.toolbox, self.secrets
        lines = {
            ETCD: commands.etcd(box.path(ETCD), ports, secrets, self.folder / "etcd", durable=self._durable),
            APISERVER: commands.apiserver(box.path(APISERVER), ports, secrets),
            MANAGER: commands.manager(box.path(MANAGER), ports, secrets, admin[MANAGER]),
            SCHEDULER: commands.scheduler(box.path(SCHEDULER), ports, secrets, admin[SCHEDULER]),
        }
        health = {
            ETCD: f"{self._etcd_url}/health",
            APISERVER: f"{self.url}/readyz",
            MANAGER: f"https://127.0.0.1:{ports.manager}/healthz",
            SCHEDULER: f"https://127.0.0.1:{ports.scheduler}/readyz",
        }
        return {
            name: Daemon(
                name,
                [*line, *self._extra.get(name, ())],
                self.logs / f"{name}.log",
                partial(self._answers, health[name]),
            )
            for name, line in lines.items()
        }

    def _stop_parts(self) -> list[str]:
        for part in self.parts.values():
            part.signal(SIGCONT)
        keeper = [part for part in self.parts.values() if part.name == ETCD]
        died = stop_all([part for part in self.parts.values() if part.name != ETCD], 0.0)
        return stop_all(keeper, CLOSE_SECONDS if self._durable else 0.0) + died

    def _answers(self, url: str) -> bool:
        client = self._keeper if url.startswith(self._etcd_url) else self._probe
        headers = {"Authorization": f"Bearer {self.token}"} if url.startswith(self.url) else {}
        try:
            return client.get(url, headers=headers, timeout=2.0).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def _etcd_trust(self) -> ssl.SSLContext:
        trust = ssl.create_default_context(cafile=str(self.ca))
        trust.load_cert_chain(self.secrets.server.certificate, self.secrets.server.key)
        return trust

    def _etcd(self, call: str, **body: Any) -> dict[str, Any]:
        answer = self._keeper.post(f"{self._etcd_url}/v3/{call}", json=body)
        answer.raise_for_status()
        return dict(answer.json())


@contextlib.contextmanager
def together(*planes: ControlPlane, leave_running: bool = False) -> Iterator[None]:
    """Start planes side by side; stop them at the end unless they are to be left running. Raises StartError."""
    failed = True
    try:
        for plane in planes:
            plane.begin()
        for plane in planes:
            plane.finish()
        yield
        failed = False
    finally:
        if failed or not leave_running:
            for plane in planes:
                plane.stop(failed=failed)
