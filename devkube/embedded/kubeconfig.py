"""The file by which kubectl and the clients find this cluster."""

import base64
import os
from pathlib import Path

import yaml


def write_kubeconfig(path: Path, name: str, url: str, token: str, certificate: Path) -> None:
    """Write a kubeconfig readable by its owner only."""
    trusted = base64.b64encode(certificate.read_bytes()).decode()
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority-data": trusted}}],
        "users": [{"name": f"{name}-admin", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": f"{name}-admin"}}],
        "current-context": name,
    }
    temporary = path.with_name(path.name + ".part")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        yaml.safe_dump(body, file, sort_keys=False)
    temporary.replace(path)
