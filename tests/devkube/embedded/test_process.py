"""The process itself: it restarts with what it had, loses nothing to kill -9, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kubernetes import client, config

from devkube.embedded.process import EmbeddedCluster
from tests.devkube.embedded.kit import FakeKubelet, Kube, job, node, pod, stamp, until


def test_continues_after_kill_with_the_same_objects_and_versions(tmp_path: Path) -> None:
    cluster = EmbeddedCluster("kept", tmp_path, token="secret").start()
    with Kube.client(cluster) as http:
        kube = Kube(http, "default")
        made = [kube.make("configmaps", {"metadata": {"name": f"c{number}"}}) for number in range(20)]
        kube.remove(kube.path("configmaps", "c0"))
        before = http.get("/api/v1/configmaps").json()
    cluster.kill()
    with EmbeddedCluster("kept", tmp_path, token="secret", port=cluster.port) as again, Kube.client(again) as http:
        after = http.get("/api/v1/configmaps").json()
        assert after["items"] == before["items"]
        assert int(after["metadata"]["resourceVersion"]) >= int(before["metadata"]["resourceVersion"])
        query = {"watch": "1", "timeoutSeconds": "1", "resourceVersion": made[0]["metadata"]["resourceVersion"]}
        assert '"code":410' in http.get("/api/v1/configmaps", params=query).text


def test_a_job_goes_on_where_the_killed_server_left_it(tmp_path: Path) -> None:
    cluster = EmbeddedCluster("kept", tmp_path, token="secret").start()
    with Kube.client(cluster) as http:
        Kube(http, "default").make("jobs", job("work", completions=2, parallelism=2))
    cluster.kill()
    with EmbeddedCluster("kept", tmp_path, token="secret") as again, Kube.client(again) as http:
        kube = Kube(http, "default")
        with FakeKubelet(http, ["n1"]):
            until(lambda: kube.get("jobs", "work")["status"].get("succeeded") == 2)
        assert len(kube.list("pods")) == 2


def test_its_kubeconfig_opens_it(tmp_path: Path) -> None:
    with EmbeddedCluster("mine", tmp_path) as cluster:
        assert cluster.kubeconfig.stat().st_mode & 0o077 == 0
        api = config.new_client_from_config(str(cluster.kubeconfig))  # type: ignore[no-untyped-call] # untyped there
        names = {each.metadata and each.metadata.name for each in client.CoreV1Api(api).list_namespace().items}
        api.close()
        assert names == {"default", "kube-system", "kube-public", "kube-node-lease"}


def test_leaves_no_process_behind(tmp_path: Path) -> None:
    with EmbeddedCluster("gone", tmp_path) as cluster:
        assert cluster.process is not None
        pid = cluster.process.pid
        with pytest.raises(RuntimeError, match="another process uses"):
            EmbeddedCluster("second", tmp_path).start()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_stops_at_once_while_watches_are_open(tmp_path: Path) -> None:
    with EmbeddedCluster("busy", tmp_path) as cluster, Kube.client(cluster) as http:
        with http.stream("GET", "/api/v1/pods", params={"watch": "1"}):
            cluster.stop()
        assert cluster.process is None


def test_a_silent_node_is_lost_and_its_pods_are_forgotten() -> None:
    words = ("--node-grace", "0.5", "--node-gone", "0.5")
    with EmbeddedCluster("silent", extra=words) as cluster, Kube.client(cluster) as http:
        kube = Kube(http, "default")
        kube.make("pods", pod("lost", tolerations=[{"operator": "Exists", "effect": "NoSchedule"}]))
        http.post("/api/v1/nodes", json=node("n1"))
        until(lambda: kube.get("pods", "lost")["spec"].get("nodeName"))
        state = until(lambda: [c for c in _conditions(kube, "n1") if c["status"] == "Unknown" and c["type"] == "Ready"])
        assert (state[0]["reason"], state[0]["message"]) == (
            "NodeStatusUnknown",
            "Kubelet stopped posting node status.",
        )
        taints = http.get("/api/v1/nodes/n1").json()["spec"]["taints"]
        assert {(t["key"], t["effect"]) for t in taints} == {
            ("node.kubernetes.io/unreachable", "NoSchedule"),
            ("node.kubernetes.io/unreachable", "NoExecute"),
        }
        kube.remove(kube.path("pods", "lost"), {"gracePeriodSeconds": 1})
        until(lambda: kube.gone("pods", "lost"))


def test_a_lease_keeps_a_node_alive() -> None:
    with EmbeddedCluster("alive", extra=("--node-grace", "0.6")) as cluster, Kube.client(cluster) as http:
        http.post("/api/v1/nodes", json=node("n1"))
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        http.post(leases, json={"metadata": {"name": "n1"}, "spec": {"renewTime": stamp()[:-1] + ".000000Z"}})
        turns = iter(range(100))

        def renew() -> bool:
            number = next(turns)
            spec = {"spec": {"leaseTransitions": number}}
            http.patch(f"{leases}/n1", json=spec, headers={"content-type": "application/merge-patch+json"})
            return number == 50

        until(renew)
        kube = Kube(http, "default")
        assert [c["status"] for c in _conditions(kube, "n1") if c["type"] == "Ready"] == ["True"]


def _conditions(kube: Kube, name: str) -> list[dict[str, str]]:
    return list(kube.http.get(f"/api/v1/nodes/{name}").json()["status"].get("conditions", []))


def test_ends_with_its_owner(tmp_path: Path) -> None:
    """A cluster whose owner was killed does not live on."""
    words = (
        "import os\n"
        "from devkube.embedded.process import EmbeddedCluster\n"
        f"cluster = EmbeddedCluster('orphan', {str(tmp_path)!r}).start()\n"
        "print(cluster.process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    until(lambda: not Path(f"/proc/{int(done.stdout)}").exists() or _zombie(int(done.stdout)))


def _zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
