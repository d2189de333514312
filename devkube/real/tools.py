"""The programs of a real Kubernetes: which module each is built from, and where the built ones lie.

Standard library only: `make kube-tools` runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = Path(__file__).resolve().parent / "tools"
BUILD_FLAGS = ("-trimpath", "-buildvcs=false", "-mod=readonly")
# The minor that everything is proven on, and the folder of each minor's module.
KUBE = "1.37"
KUBE_MODULES = {"1.37": "kubernetes", "1.34": "kubernetes-1.34"}
_VERSION_PACKAGE = "k8s.io/component-base/version"


class ToolsMissingError(RuntimeError):
    """A program has not been built; the message says how to build it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One program: its name, our module folder for it, the module it is from, its package, its CRDs (a pattern)."""

    name: str
    folder: str
    module: str
    package: str
    crds: str = ""
    linux_only: bool = False

    @property
    def version(self) -> str:
        """The version of the module that our go.mod requires, such as `v1.37.2`."""
        found = re.search(rf"^(?:require)?\s*{re.escape(self.module)} (v\S+)", self.go_mod.read_text(), re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.go_mod} does not require {self.module}")
        return found.group(1)

    @property
    def go_mod(self) -> Path:
        """Our module file for it."""
        return MODULES / self.folder / "go.mod"

    @property
    def link_flags(self) -> str:
        """The linker's flags; Kubernetes says v0.0.0 unless it is told its version."""
        words = ["-s", "-w"]
        if self.module == "k8s.io/kubernetes":
            major, minor, _patch = self.version.removeprefix("v").split(".", 2)
            stamps = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor}
            words += [f"-X {_VERSION_PACKAGE}.{name}={value}" for name, value in stamps.items()]
        return " ".join(words)

    @property
    def key(self) -> str:
        """Changes with whatever changes the program: our module's files, the flags, the system and its processor."""
        digest = hashlib.sha256(self.go_mod.read_bytes())
        for file in (self.go_mod.with_name("go.sum"), *sorted(self.go_mod.parent.glob("*.go"))):
            digest.update(file.read_bytes())
        parts = [*BUILD_FLAGS, self.link_flags, sys.platform, platform.machine()]
        digest.update("\n".join(parts).encode())
        return f"{self.folder}-{self.version}-{digest.hexdigest()[:12]}"


def tools(kube: str = KUBE) -> tuple[Tool, ...]:
    """All programs, the essential ones first; raises ValueError for a minor that has no module here."""
    if kube not in KUBE_MODULES:
        raise ValueError(f"there is no module for Kubernetes {kube}; there are {', '.join(sorted(KUBE_MODULES))}")
    control = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    containers = ("containerd", "containerd-shim-runc-v2", "ctr")
    mpi, spark = "github.com/kubeflow/mpi-operator", "github.com/kubeflow/spark-operator/v2"
    return (
        Tool("etcd", "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
        *(_kubernetes(name, kube) for name in control),
        Tool("kwok", "kwok", "sigs.k8s.io/kwok", "sigs.k8s.io/kwok/cmd/kwok"),
        _kubernetes("kubelet", kube, linux_only=True),
        *(_containerd(name) for name in containers),
        # The one program of our own; its module is what it speaks to the kubelet with.
        Tool("device-plugin", "device-plugin", "k8s.io/kubelet", ".", linux_only=True),
        Tool("mpi-operator", "mpi-operator", mpi, f"{mpi}/cmd/mpi-operator", "manifests/base/kubeflow.org_*.yaml"),
        Tool("spark-operator", "spark-operator", spark, f"{spark}/cmd/operator", "config/crd/bases/*.yaml"),
    )


def _kubernetes(name: str, kube: str, *, linux_only: bool = False) -> Tool:
    module = "k8s.io/kubernetes"
    return Tool(name, KUBE_MODULES[kube], module, f"{module}/cmd/{name}", linux_only=linux_only)


def _containerd(name: str) -> Tool:
    module = "github.com/containerd/containerd/v2"
    return Tool(name, "containerd", module, f"{module}/cmd/{name}", linux_only=True)


class Toolbox:
    """The built programs of one minor, in `home` (`DEVKUBE_TOOLS`, else `.kube-tools` beside the project's README)."""

    def __init__(self, kube: str | None = None, home: Path | None = None) -> None:
        """`kube` is a minor such as `1.37`; without it `DEVKUBE_KUBE` or the newest. Raises ValueError for others."""
        self.kube = kube or os.environ.get("DEVKUBE_KUBE") or KUBE
        self.home = (home or Path(os.environ.get("DEVKUBE_TOOLS") or ROOT / ".kube-tools")).resolve()
        self.tools = {tool.name: tool for tool in tools(self.kube)}

    def place(self, name: str) -> Path:
        """Where the program is or will be."""
        return self.home / self.tools[name].key / name

    def path(self, name: str) -> Path:
        """The built program; raises ToolsMissingError."""
        self.require([name])
        return self.place(name)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of the programs that are not built for this state of their modules."""
        return [name for name in names if not self.place(name).exists()]

    def require(self, names: Iterable[str]) -> None:
        """Raises ToolsMissingError naming every program that is not built."""
        if gone := self.missing(names):
            command = "make kube-tools" + ("" if self.kube == KUBE else f" KUBE={self.kube}")
            raise ToolsMissingError(f"not built: {', '.join(gone)}; `{command}` builds them")

    def crds(self, name: str) -> Sequence[Path]:
        """The YAML files of the program's custom resource definitions; raises ToolsMissingError."""
        self.require([name])
        return sorted((self.place(name).parent / f"{name}.crds").glob("*.yaml"))
