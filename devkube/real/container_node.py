"""A node that runs real containers: containerd, runc and kubelet in an enclosure of their own (Linux, root).

    with ControlPlane() as plane, ContainerNode(plane, "real-1", cards=4) as node:
        ...  # pods with the image `busybox:1.35` run here; node.pod_logs has their log files in CRI format

`obstacle()` says why it cannot run here. However it ends, its containers, mounts and networks end with it.
"""

from __future__ import annotations

import json
import platform
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from devkube.real import enclosure, node_files, system
from devkube.real.control_plane import ControlPlane
from devkube.real.daemon import Daemon, StartError, free_ports, stop_all
from devkube.real.images import USUAL, Image, write_archive
from devkube.real.tools import Toolbox

CONTAINERD, SHIM, CTR, KUBELET, PLUGIN = PROGRAMS = (
    "containerd",
    "containerd-shim-runc-v2",
    "ctr",
    "kubelet",
    "device-plugin",
)
READY_SECONDS = 60.0
STOP_SECONDS = 5.0
MERGE = {"Content-Type": "application/merge-patch+json"}
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


def obstacle(box: Toolbox) -> str:
    """Why no container node can run here; empty when one can."""
    if reason := enclosure.obstacle():
        return reason
    if gone := system.missing():
        return f"container nodes need {', '.join(gone)} (Debian: apt-get install {' '.join(gone)})"
    if gone := box.missing(PROGRAMS):
        return f"not built: {', '.join(gone)}; `make kube-tools` builds them"
    return ""


class ContainerNode:
    """One node on a plane. `images` are made and imported beside busybox; `settings` go over kubelet's configuration.

    Its `cards` are told to the kubelet by a device plugin, as real ones are: `card-0`, `card-1` and so on.

    Raises StartError, also when there is an obstacle.
    """

    def __init__(
        self,
        plane: ControlPlane,
        name: str = "container-1",
        *,
        cards: int = 0,
        labels: Mapping[str, str] | None = None,
        images: Sequence[Image] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Makes its folder below the plane's; starts nothing."""
        if reason := obstacle(plane.toolbox):
            raise StartError(reason)
        self.plane, self.name, self.cards = plane, name, cards
        self.folder = plane.folder / f"node-{name}"
        self.folder.mkdir(exist_ok=True)
        self._images = [*USUAL, *images]
        self._labels = dict(labels or {})
        self._settings = dict(settings or {})
        self._enclosure = enclosure.Enclosure(self.folder, self._log_of("enclosure"))
        self._probe = httpx.Client(timeout=2.0, trust_env=False)
        self._http = plane.client()
        self.parts: dict[str, Daemon] = {}

    @property
    def pod_logs(self) -> Path:
        """The folder that /var/log/pods is elsewhere: `<namespace>_<pod>_<uid>/<container>/0.log`."""
        return self.folder / "pods"

    def start(self) -> Self:
        """Start it and wait until the node is Ready; raises StartError."""
        deadline = time.monotonic() + READY_SECONDS
        try:
            self._enclosure.start()
            self.parts = self._daemons()
            self.parts[CONTAINERD].start()
            self.parts[CONTAINERD].wait_ready(deadline)
            self._import_images()
            for name in (KUBELET, PLUGIN):
                self.parts[name].start()
                self.parts[name].wait_ready(deadline)
            self._introduce(deadline)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End kubelet, containerd, every container, every mount; the Node object stays."""
        died = stop_all(list(self.parts.values()), STOP_SECONDS)
        self._enclosure.end()
        for line in died:
            print(f"! {self.name}: {line}")
        node_files.remove_cgroups(self.folder)
        for client in (self._probe, self._http):
            client.close()
        for place in ("root", "state", "kubelet"):
            shutil.rmtree(self.folder / place, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def break_cards(self, *names: str) -> None:
        """These cards are broken from now on, all others are well."""
        self._broken.write_text("\n".join(names))

    def restart_kubelet(self) -> None:
        """Kill kubelet and start it again; containers go on meanwhile."""
        self.parts[KUBELET].kill()
        self.parts[KUBELET].start()
        self.parts[KUBELET].wait_ready(time.monotonic() + READY_SECONDS)

    def ctr(self, *words: str) -> str:
        """What `ctr` answers in the namespace of Kubernetes; raises StartError with its message."""
        line = [str(self.plane.toolbox.path(CTR)), "--address", str(self._socket), "-n", "k8s.io", *words]
        done = subprocess.run(self._enclosure.command(line), capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise StartError(f"ctr {words[0]}: {done.stderr.strip()}")
        return done.stdout

    @property
    def _broken(self) -> Path:
        return self.folder / "broken-cards"

    @property
    def _socket(self) -> Path:
        return self.folder / "containerd.sock"

    def _import_images(self) -> None:
        program = system.busybox()
        if program is None:
            raise StartError("there is no static busybox")
        archive = self.folder / "images.tar"
        write_archive(archive, self._images, program, _arch())
        self.ctr("images", "import", "--local", "--snapshotter", "native", str(archive))

    def _introduce(self, deadline: float) -> None:
        """Give the node its address and take off the taint that waits for a cloud to do so."""
        path = f"/api/v1/nodes/{self.name}"
        while (node := self._http.get(path)).status_code != httpx.codes.OK:
            self._wait(deadline, "has not registered itself")
        status: dict[str, Any] = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}
        self._patch(f"{path}/status", {"status": status})
        taints = [each for each in node.json()["spec"].get("taints", []) if each["key"] != UNINITIALIZED]
        self._patch(path, {"spec": {"taints": taints}})
        while not self._is_ready(self._http.get(path).json()):
            self._wait(deadline, "is not Ready")

    def _patch(self, path: str, body: dict[str, Any]) -> None:
        self._http.patch(path, content=json.dumps(body), headers=MERGE).raise_for_status()

    def _is_ready(self, node: dict[str, Any]) -> bool:
        status = node["status"]
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", []))
        cards = int(status["allocatable"].get("nvidia.com/gpu", "0")) if "allocatable" in status else 0
        taints = [each["key"] for each in node["spec"].get("taints", [])]
        return ready and cards == self.cards and not taints

    def _wait(self, deadline: float, what: str) -> None:
        if time.monotonic() > deadline:
            raise StartError(f"the node {self.name} {what}; kubelet's log is {self.parts[KUBELET].log}")
        time.sleep(0.05)

    def _daemons(self) -> dict[str, Daemon]:
        port, health = free_ports(2)
        box, inside = self.plane.toolbox, self._enclosure.command
        programs = {"PATH": f"{box.path(SHIM).parent}:/usr/sbin:/usr/bin:/sbin:/bin"}
        subnet = f"10.{random.randrange(128, 250)}.{random.randrange(250)}.0/24"  # noqa: S311 - no secret
        config = node_files.containerd_config(self.folder, self._socket, subnet)
        lines: dict[str, tuple[list[str], Callable[[], bool]]] = {
            CONTAINERD: ([f"--config={config}", "--log-level=info"], self._containerd_answers),
            KUBELET: (self._kubelet(port, health), partial(self._answers, f"http://127.0.0.1:{health}/healthz")),
            PLUGIN: ([f"-count={self.cards}", f"-broken={self._broken}"], self._cards_are_told),
        }
        return {
            name: Daemon(name, inside([str(box.path(name)), *words]), self._log_of(name), ready, programs)
            for name, (words, ready) in lines.items()
        }

    def _kubelet(self, port: int, health: int) -> list[str]:
        secrets, folder = self.plane.secrets, self.folder
        identity = secrets.issue(f"system:node:{self.name}", "system:nodes")
        kubeconfig = node_files.kubeconfig(folder / "kubeconfig", self.plane.url, secrets.ca.certificate, identity)
        settings = node_files.kubelet_settings(folder, self._socket, secrets, port, health)
        (folder / "kubelet.yaml").write_text(yaml.safe_dump(settings | self._settings))
        words = [f"--config={folder / 'kubelet.yaml'}", f"--kubeconfig={kubeconfig}"]
        words += [f"--root-dir={folder / 'kubelet'}", f"--cert-dir={folder / 'certificates'}"]
        # kubelet refuses a loopback address of its own accord, but takes what a cloud's controller says.
        words += [f"--hostname-override={self.name}", "--cloud-provider=external"]
        if self._labels:
            words.append("--node-labels=" + ",".join(f"{key}={value}" for key, value in self._labels.items()))
        return words

    def _log_of(self, name: str) -> Path:
        return self.plane.logs / f"{self.name}-{name}.log"

    def _cards_are_told(self) -> bool:
        return "are told" in self._log_of(PLUGIN).read_text()

    def _containerd_answers(self) -> bool:
        if not self._socket.exists():
            return False
        try:
            return bool(self.ctr("version"))
        except StartError:
            return False

    def _answers(self, url: str) -> bool:
        try:
            return self._probe.get(url).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def _arch() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
