"""The operators beside a real control plane: an MPIJob runs to its end, a SparkApplication is taken up."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from devkube.real.control_plane import ControlPlane
from devkube.real.operators import MPI, SPARK, MpiOperator, SparkOperator
from devkube.real.simulated_nodes import SimulatedNodes
from tests.support.kubernetes import Obj, a_namespace, built, until

pytestmark = [pytest.mark.kubernetes, pytest.mark.xdist_group("kubernetes")]
SPARK_JOBS = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/spark/sparkapplications"
MPI_JOBS = "/apis/kubeflow.org/v2beta1/namespaces/mpi/mpijobs"


@pytest.fixture
def node(nodes: SimulatedNodes) -> Iterator[str]:
    """16 simulated cards."""
    nodes.add("operators-1", cards=16)
    yield "operators-1"
    nodes.remove("operators-1")


def replica(count: int, *, cards: int = 0) -> Obj:
    container = {"name": "main", "image": "mpi", "resources": {"limits": {"nvidia.com/gpu": str(cards)}}}
    here = {"kubernetes.io/hostname": "operators-1"}  # other tests have nodes on the same plane
    return {"replicas": count, "template": {"spec": {"containers": [container], "nodeSelector": here}}}


@pytest.mark.usefixtures("node")
def test_an_mpijob_becomes_workers_and_a_launcher_and_succeeds(plane: ControlPlane, http: httpx.Client) -> None:
    built([MPI])
    a_namespace(http, "mpi")
    with MpiOperator(plane):
        spec = {"mpiReplicaSpecs": {"Launcher": replica(1), "Worker": replica(2, cards=8)}}
        body = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "train"}, "spec": spec}
        http.post(MPI_JOBS, json=body).raise_for_status()

        def true() -> set[str]:
            conditions = http.get(f"{MPI_JOBS}/train").json().get("status", {}).get("conditions", [])
            return {each["type"] for each in conditions if each["status"] == "True"}

        until(lambda: true() >= {"Created", "Succeeded"})


def test_a_sparkapplication_without_a_spark_is_taken_up_and_fails_with_the_reason(
    plane: ControlPlane, http: httpx.Client
) -> None:
    built([SPARK])
    a_namespace(http, "spark")
    with SparkOperator(plane, namespaces=["spark"]):
        spec: Obj = {"type": "Python", "mode": "cluster", "sparkVersion": "3.5.5"}
        spec |= {"mainApplicationFile": "local:///x.py"}
        spec |= {"image": "spark", "restartPolicy": {"type": "Never"}, "driver": {"cores": 1}, "executor": {"cores": 1}}
        meta = {"name": "etl"}
        body = {
            "apiVersion": "sparkoperator.k8s.io/v1beta2",
            "kind": "SparkApplication",
            "metadata": meta,
            "spec": spec,
        }
        http.post(SPARK_JOBS, json=body).raise_for_status()

        def state() -> Obj:
            return dict(http.get(f"{SPARK_JOBS}/etl").json().get("status", {}).get("applicationState", {}))

        until(lambda: state().get("state") == "FAILED")
        assert "spark-submit" in state()["errorMessage"]
