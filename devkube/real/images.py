"""Container images made on the spot from a static busybox: OCI archives, as `ctr images import` reads them."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAUSE = "devkube.local/pause:1"
# The tag is no `latest`, so a pod that says nothing about pulling takes the image that is there.
BUSYBOX = "docker.io/library/busybox:1.35"
LAYER = "application/vnd.oci.image.layer.v1.tar"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its full name: busybox with further files (path to content, all executable) and a command."""

    name: str
    command: Sequence[str] = ("/bin/sh",)
    files: Mapping[str, bytes] = field(default_factory=dict)


USUAL = (Image(PAUSE, ("/bin/sleep", "2000000000")), Image(BUSYBOX), Image("docker.io/library/busybox:latest"))


def write_archive(path: Path, images: Sequence[Image], busybox: Path, arch: str) -> None:
    """Write one archive with all images; `arch` in Go's words."""
    blobs: dict[str, bytes] = {}
    manifests = []
    for image in images:
        layer = _layer(image, busybox)
        config = {
            "architecture": arch,
            "os": "linux",
            "config": {"Cmd": list(image.command), "Env": ["PATH=/bin:/usr/bin:/sbin"], "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _blob(blobs, CONFIG, json.dumps(config).encode()),
            "layers": [_blob(blobs, LAYER, layer)],
        }
        entry = _blob(blobs, MANIFEST, json.dumps(manifest).encode())
        entry["annotations"] = {"io.containerd.image.name": image.name}
        entry["platform"] = {"architecture": arch, "os": "linux"}
        manifests.append(entry)
    with tarfile.open(path, "w") as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        _add(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": manifests}).encode())
        for digest, content in blobs.items():
            _add(archive, f"blobs/sha256/{digest}", content)


def _blob(blobs: dict[str, bytes], kind: str, content: bytes) -> Obj:
    digest = hashlib.sha256(content).hexdigest()
    blobs[digest] = content
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}


def _layer(image: Image, busybox: Path) -> bytes:
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for name in ("bin", "etc", "proc", "sys", "dev", "var", "root", "usr"):
            _folder(layer, name, 0o755)
        _folder(layer, "tmp", 0o1777)
        _add(layer, "etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
        _add(layer, "bin/busybox", busybox.read_bytes(), 0o755)
        for applet in applets:
            if applet != "busybox":
                link = tarfile.TarInfo(f"bin/{applet}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                layer.addfile(link)
        for name, content in image.files.items():
            _add(layer, name.lstrip("/"), content, 0o755)
    return buffer.getvalue()


def _folder(layer: tarfile.TarFile, name: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    layer.addfile(entry)


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
