"""Kubeconfigs as tools write them, and what may be wrong with one."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.support.certificates import NOON, YEAR, a_certificate

CA = a_certificate("authority", until=NOON + YEAR)
CLIENT = a_certificate("ada", by=CA)
TOKEN = "s3cret-token"


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_kubeconfig(
    *,
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    contexts: tuple[str, ...] = ("admin@beijing",),
    current: Any = None,
    **top: Any,
) -> str:
    """One cluster, one user with a token, one context which is the current one; ``cluster`` and ``user`` add to it."""
    plain_cluster = {"server": "https://10.0.0.1:6443", "certificate-authority-data": in_base64(CA.certificate)}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "beijing", "cluster": plain_cluster | (cluster or {})}],
        "users": [{"name": "ada", "user": {"token": TOKEN} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": "beijing", "user": "ada"}} for name in contexts],
        "current-context": (contexts[0] if contexts else "") if current is None else current,
    }
    return json.dumps(whole | top)


def by_certificate(certificate: str = CLIENT.certificate, key: str = CLIENT.key) -> dict[str, Any]:
    return {"client-certificate-data": in_base64(certificate), "client-key-data": in_base64(key)}
