"""The configuration files of a container node, and the cgroups that it leaves."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import yaml

from devkube.real import images, system
from devkube.real.credentials import Credentials, Pair, private

_CONTAINERD = """\
version = 3
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.nri.v1.nri"]

[grpc]
  address = "{socket}"
[ttrpc]
  address = "{socket}.ttrpc"

[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "native"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{pause}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = "{runc}"
        SystemdCgroup = false
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{plugins}"]
    conf_dir = "{folder}/cni"
"""


def containerd_config(folder: Path, socket: Path, subnet: str) -> Path:
    """Write containerd's file and the pods' network: a pair of interfaces per pod, gone with the pod, no bridge."""
    network = {
        "cniVersion": "1.0.0",
        "name": "devkube",
        "plugins": [
            {
                "type": "ptp",
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": subnet}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                    "dataDir": f"{folder}/addresses",
                },
            },
        ],
    }
    (folder / "cni").mkdir(exist_ok=True)
    (folder / "cni" / "10-devkube.conflist").write_text(json.dumps(network))
    config = folder / "containerd.toml"
    places = {"runc": system.runc(), "plugins": system.cni(), "pause": images.PAUSE}
    config.write_text(_CONTAINERD.format(folder=folder, socket=socket, **places))
    return config


def kubelet_settings(folder: Path, socket: Path, secrets: Credentials, port: int, health: int) -> dict[str, Any]:
    """KubeletConfiguration: loopback only, answers to the API server's certificate, leaves the machine's cgroups be."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "127.0.0.1",
        "port": port,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": health,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(secrets.ca.certificate)},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "tlsCertFile": str(secrets.server.certificate),
        "tlsPrivateKeyFile": str(secrets.server.key),
        "containerRuntimeEndpoint": f"unix://{socket}",
        "podLogsDir": str(folder / "pods"),
        "volumePluginDir": str(folder / "volume-plugins"),
        "resolvConf": "",
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": False,
        # A developer's disk may be nearly full; the node must not refuse pods for that.
        "evictionHard": {"memory.available": "0%", "nodefs.available": "0%", "imagefs.available": "0%"},
        "imageGCHighThresholdPercent": 100,
        "nodeStatusUpdateFrequency": "2s",
    }


def kubeconfig(path: Path, url: str, ca: Path, identity: Pair) -> Path:
    """Write a kubeconfig with a client certificate, mode 0600."""

    def inline(file: Path) -> str:
        return base64.b64encode(file.read_bytes()).decode()

    user = {
        "client-certificate-data": inline(identity.certificate),
        "client-key-data": inline(identity.key),
    }
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "only", "cluster": {"server": url, "certificate-authority-data": inline(ca)}}],
        "users": [{"name": "node", "user": user}],
        "contexts": [{"name": "only", "context": {"cluster": "only", "user": "node"}}],
        "current-context": "only",
    }
    with private(path) as file:
        yaml.safe_dump(body, file)
    return path


def remove_cgroups(folder: Path) -> None:
    """Remove the empty cgroups of the containers that this node knew; a cgroup in use refuses."""
    ids = [entry.name for entry in (folder / "state" / "io.containerd.runtime.v2.task" / "k8s.io").glob("*")]
    for name in ids:
        for place in [*Path("/sys/fs/cgroup").glob(f"*/k8s.io/{name}"), Path("/sys/fs/cgroup/k8s.io") / name]:
            with contextlib.suppress(OSError):
                place.rmdir()
