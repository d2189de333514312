"""From a pod's container to what is run on this machine: command, environment, folders. Decides; touches nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from devkube.agent.quantities import whole

Obj: TypeAlias = dict[str, Any]

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")
STAND_IN = (
    "echo \"devkube: image '$DEVKUBE_IMAGE' has no command here and is not pulled; an idle process stands in for it\"; "
    "while :; do sleep 3600 & wait; done"
)


class MissingReferenceError(ValueError):
    """An environment value names something that is not there; kubelet calls it CreateContainerConfigError."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of one container. `memory_bytes` 0 means no limit; `volumes` are the folders to make."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    volumes: tuple[Path, ...]
    memory_bytes: int


def expand(text: str, values: Mapping[str, str]) -> str:
    """Kubernetes' expansion: `$(NAME)` of a known name is replaced, `$$` is `$`, everything else stays."""

    def one(found: re.Match[str]) -> str:
        if found.group(0) == "$$":
            return "$"
        return values.get(found.group(1), found.group(0))

    return _REFERENCE.sub(one, text)


def pod_ip(uid: str) -> str:
    """An address of 127/8 that is this pod's own; every one of them reaches this machine."""
    digest = hashlib.sha256(uid.encode()).digest()
    return f"127.{digest[0] % 254 + 1}.{digest[1]}.{digest[2] % 254 + 1}"


def prepare(pod: Obj, container: Obj, *, folder: Path, sources: Mapping[str, str]) -> Launch:
    """What to run for a container; `sources` holds `secret/<name>/<key>` and `config/<name>/<key>` values.

    Raises MissingReferenceError for a value that cannot be found.
    """
    given = _environment(pod, container, sources)
    home, tmp = folder / "work", folder / "tmp"
    volumes = _volumes(pod, container, folder.parent.parent / "volumes")
    inherited = {
        "PATH": PATH,
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "LANG": "C.UTF-8",
        "HOSTNAME": str(pod["metadata"]["name"]),
    }
    command = [expand(part, given) for part in container.get("command") or []]
    arguments = [expand(part, given) for part in container.get("args") or []]
    if not command:
        inherited["DEVKUBE_IMAGE"] = str(container.get("image", ""))
        command, arguments = ["/bin/sh", "-c", STAND_IN], []
    limits = (container.get("resources") or {}).get("limits") or {}
    return Launch(
        argv=(*command, *arguments),
        env={**inherited, **{name: str(path) for name, path in volumes.items()}, **given},
        folder=folder,
        volumes=(home, tmp, *volumes.values()),
        memory_bytes=whole(limits["memory"]) if "memory" in limits else 0,
    )


def _volumes(pod: Obj, container: Obj, base: Path) -> dict[str, Path]:
    known = {volume["name"] for volume in pod["spec"].get("volumes") or []}
    found = {}
    for mount in container.get("volumeMounts") or []:
        if mount["name"] in known:
            word = re.sub(r"[^A-Z0-9]+", "_", str(mount["mountPath"]).upper()).strip("_") or "ROOT"
            found[f"DEVKUBE_MOUNT_{word}"] = base / str(mount["name"])
    return found


def _environment(pod: Obj, container: Obj, sources: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for block in container.get("envFrom") or []:
        values |= _whole_source(block, sources)
    for entry in container.get("env") or []:
        name = str(entry["name"])
        if "valueFrom" in entry:
            value = _value_from(pod, container, entry["valueFrom"], sources)
            if value is not None:
                values[name] = value
        else:
            values[name] = expand(str(entry.get("value", "")), values)
    return values


def _whole_source(block: Obj, sources: Mapping[str, str]) -> dict[str, str]:
    kind, ref = ("secret", block["secretRef"]) if "secretRef" in block else ("config", block.get("configMapRef") or {})
    start = f"{kind}/{ref.get('name')}/"
    found = {
        block.get("prefix", "") + key.removeprefix(start): text
        for key, text in sources.items()
        if key.startswith(start)
    }
    if not found and not ref.get("optional"):
        raise MissingReferenceError(f'{"secret" if kind == "secret" else "configmap"} "{ref.get("name")}" not found')
    return found


def _value_from(pod: Obj, container: Obj, source: Obj, sources: Mapping[str, str]) -> str | None:
    if field := source.get("fieldRef"):
        return _field(pod, str(field["fieldPath"]))
    if wanted := source.get("resourceFieldRef"):
        resource = str(wanted["resource"])
        group, _, name = resource.partition(".")
        text = ((container.get("resources") or {}).get(group) or {}).get(name, "0")
        return str(-(-whole(text) // max(1, whole(wanted.get("divisor") or "1"))))
    kind, ref = (
        ("secret", source.get("secretKeyRef"))
        if "secretKeyRef" in source
        else ("config", source.get("configMapKeyRef"))
    )
    ref = ref or {}
    value = sources.get(f"{kind}/{ref.get('name')}/{ref.get('key')}")
    if value is None and not ref.get("optional"):
        raise MissingReferenceError(f'couldn\'t find key {ref.get("key")} in {kind} "{ref.get("name")}"')
    return value


def _field(pod: Obj, path: str) -> str:
    if found := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path):
        return str((pod["metadata"].get(found.group(1)) or {}).get(found.group(2), ""))
    address = pod_ip(str(pod["metadata"]["uid"]))
    known = {
        "metadata.name": pod["metadata"]["name"],
        "metadata.namespace": pod["metadata"].get("namespace", ""),
        "metadata.uid": pod["metadata"]["uid"],
        "spec.nodeName": pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", "default"),
        "status.hostIP": "127.0.0.1",
        "status.hostIPs": "127.0.0.1",
        "status.podIP": address,
        "status.podIPs": address,
    }
    if path not in known:
        raise MissingReferenceError(f"unsupported fieldPath: {path}")
    return str(known[path])


def sources_of(container: Obj) -> Sequence[tuple[str, str]]:
    """The (`secrets` | `configmaps`, name) pairs that a container's environment reads."""
    found: list[tuple[str, str]] = []
    for block in container.get("envFrom") or []:
        found += [("secrets", block["secretRef"]["name"])] if "secretRef" in block else []
        found += [("configmaps", block["configMapRef"]["name"])] if "configMapRef" in block else []
    for entry in container.get("env") or []:
        source = entry.get("valueFrom") or {}
        found += [("secrets", source["secretKeyRef"]["name"])] if "secretKeyRef" in source else []
        found += [("configmaps", source["configMapKeyRef"]["name"])] if "configMapKeyRef" in source else []
    return tuple(dict.fromkeys(found))
