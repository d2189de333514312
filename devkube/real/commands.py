"""The command lines of the control plane's programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from devkube.real.credentials import SERVICE_RANGE, Credentials

# The programs' own limits (20 to 50 calls a second) are for clusters with many tenants; here they only make tests slow.
FAST = ("--kube-api-qps=500", "--kube-api-burst=1000")


@dataclass(frozen=True, slots=True)
class Ports:
    """Loopback ports of one plane."""

    etcd: int
    peer: int
    apiserver: int
    manager: int
    scheduler: int


def etcd(program: Path, ports: Ports, secrets: Credentials, data: Path, *, durable: bool) -> list[str]:
    """etcd, closed to all but the holders of a certificate; not `durable`: it does not wait for the disk."""
    client, peer = f"https://127.0.0.1:{ports.etcd}", f"https://127.0.0.1:{ports.peer}"
    words = [str(program), "--name=only", f"--data-dir={data}", "--log-level=warn"]
    words += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}"]
    words += [f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=only={peer}"]
    for side in ("", "peer-"):
        words += [f"--{side}cert-file={secrets.server.certificate}", f"--{side}key-file={secrets.server.key}"]
        words += [f"--{side}trusted-ca-file={secrets.ca.certificate}", f"--{side}client-cert-auth"]
    return words if durable else [*words, "--unsafe-no-fsync"]


def apiserver(program: Path, ports: Ports, secrets: Credentials) -> list[str]:
    """kube-apiserver with tokens from a file, Node and RBAC authorization."""
    return [
        str(program),
        f"--etcd-servers=https://127.0.0.1:{ports.etcd}",
        f"--etcd-cafile={secrets.ca.certificate}",
        f"--etcd-certfile={secrets.server.certificate}",
        f"--etcd-keyfile={secrets.server.key}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports.apiserver}",
        # Endpoints of the service `kubernetes` cannot be a loopback address, so nobody may try to write them.
        "--endpoint-reconciler-type=none",
        *_served_with(secrets),
        f"--client-ca-file={secrets.ca.certificate}",
        f"--token-auth-file={secrets.tokens}",
        "--authorization-mode=Node,RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={secrets.account_key}",
        f"--service-account-signing-key-file={secrets.account_key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--allow-privileged=true",
        f"--kubelet-client-certificate={secrets.kubelet_client.certificate}",
        f"--kubelet-client-key={secrets.kubelet_client.key}",
        # Names of nodes mean nothing to this machine's resolver.
        "--kubelet-preferred-address-types=InternalIP",
        "--profiling=false",
    ]


def manager(program: Path, ports: Ports, secrets: Credentials, kubeconfig: Path) -> list[str]:
    """kube-controller-manager with all its controllers."""
    return [
        *_client_of(program, ports.manager, secrets, kubeconfig),
        f"--service-account-private-key-file={secrets.account_key}",
        f"--root-ca-file={secrets.ca.certificate}",
    ]


def scheduler(program: Path, ports: Ports, secrets: Credentials, kubeconfig: Path) -> list[str]:
    """kube-scheduler with its default profile."""
    return _client_of(program, ports.scheduler, secrets, kubeconfig)


def _client_of(program: Path, port: int, secrets: Credentials, kubeconfig: Path) -> list[str]:
    kinds = ("", "authentication-", "authorization-")
    return [
        str(program),
        *(f"--{kind}kubeconfig={kubeconfig}" for kind in kinds),
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        *_served_with(secrets),
        "--leader-elect=false",
        "--profiling=false",
        *FAST,
    ]


def _served_with(secrets: Credentials) -> list[str]:
    return [f"--tls-cert-file={secrets.server.certificate}", f"--tls-private-key-file={secrets.server.key}"]
