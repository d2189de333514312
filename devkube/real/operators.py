"""The operators that turn an MPIJob or a SparkApplication into pods, as processes beside a control plane."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from devkube.children import free_port
from devkube.real.control_plane import ControlPlane
from devkube.real.daemon import Daemon, StartError, free_ports, stop_all

MPI, SPARK = "mpi-operator", "spark-operator"
# Built into mpi-operator, so that one runs per machine.
MPI_HEALTH_PORT = 8080
READY_SECONDS = 60.0
STOP_SECONDS = 2.0


class Operator:
    """What both have in common: CRDs, a process, a health address. Raises ToolsMissingError and StartError."""

    name: str

    def __init__(self, plane: ControlPlane) -> None:
        """Starts nothing."""
        plane.toolbox.require([self.name])
        self.plane = plane
        self._probe = httpx.Client(timeout=2.0, trust_env=False)
        self.part: Daemon | None = None

    def start(self) -> Self:
        """Apply the CRDs, start the operator and wait until it works; raises StartError."""
        self.plane.apply(*self.plane.toolbox.crds(self.name))
        self._prepare()
        self.part = self._daemon()
        try:
            self.part.start()
            self.part.wait_ready(time.monotonic() + READY_SECONDS)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End it; the CRDs and their objects stay."""
        for line in stop_all([self.part] if self.part else [], STOP_SECONDS):
            print(f"! {self.plane.name}: {line}")
        self._probe.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _prepare(self) -> None:
        raise NotImplementedError

    def _daemon(self) -> Daemon:
        raise NotImplementedError

    def _answers(self, url: str) -> bool:
        try:
            return self._probe.get(url).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


class MpiOperator(Operator):
    """mpi-operator for all namespaces of the plane; one per machine, for its health port cannot be chosen."""

    name = MPI

    def _prepare(self) -> None:
        if free_port(MPI_HEALTH_PORT) != MPI_HEALTH_PORT:
            raise StartError(f"{MPI} answers for its health on port {MPI_HEALTH_PORT} only, and that is taken")
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MPI}}
        with self.plane.client() as http:
            if (answer := http.post("/api/v1/namespaces", json=body)).status_code != httpx.codes.CONFLICT:
                answer.raise_for_status()

    def _daemon(self) -> Daemon:
        words = [str(self.plane.toolbox.path(MPI)), f"-kubeConfig={self.plane.kubeconfig}", f"-lock-namespace={MPI}"]
        words += ["-kube-api-qps=200", "-kube-api-burst=400"]
        return Daemon(MPI, words, self.plane.logs / f"{MPI}.log", self._leads)

    def _leads(self) -> bool:
        """It answers before it works, so the lease says when it does."""
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{MPI}/leases/{MPI}"
        if not self._answers(f"http://127.0.0.1:{MPI_HEALTH_PORT}/healthz"):
            return False
        with self.plane.client() as http:
            answer = http.get(lease)
            return answer.status_code == httpx.codes.OK and bool(answer.json()["spec"].get("holderIdentity"))


class SparkOperator(Operator):
    """spark-operator's controller for some namespaces, which must exist.

    `spark_home` is a Spark of the pyspark wheel (bin/ and jars/); without one the operator runs, but a submission
    fails and says so. Java is needed for a submission only.
    """

    name = SPARK

    def __init__(self, plane: ControlPlane, *, namespaces: Sequence[str] = (), spark_home: Path | None = None) -> None:
        """No namespace: all of them."""
        super().__init__(plane)
        self._namespaces, self._home = tuple(namespaces), spark_home

    def _prepare(self) -> None:
        home = self._spark_home
        if self._home is not None and not home.exists():
            shutil.copytree(self._home, home, symlinks=True)
        (home / "conf").mkdir(parents=True, exist_ok=True)
        # The submission trusts no private authority by itself, whatever its kubeconfig says.
        (home / "conf" / "spark-defaults.conf").write_text("spark.kubernetes.trust.certificates true\n")

    @property
    def _spark_home(self) -> Path:
        return self.plane.folder / "spark"

    def _daemon(self) -> Daemon:
        (port,) = free_ports(1)
        words = [str(self.plane.toolbox.path(SPARK)), "controller", "start", f"--kubeconfig={self.plane.kubeconfig}"]
        words += [f"--namespaces={','.join(self._namespaces)}", "--leader-election=false", "--metrics-bind-address=0"]
        words += [f"--health-probe-bind-address=127.0.0.1:{port}"]
        url = httpx.URL(self.plane.url)
        environment = {
            "SPARK_HOME": str(self._spark_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "KUBECONFIG": str(self.plane.kubeconfig),
            "KUBERNETES_SERVICE_HOST": url.host,
            "KUBERNETES_SERVICE_PORT": str(url.port),
        }
        ready = partial(self._answers, f"http://127.0.0.1:{port}/readyz")
        return Daemon(SPARK, words, self.plane.logs / f"{SPARK}.log", ready, environment)
