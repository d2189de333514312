"""An API server that answers the check list's questions as told; every part can be replaced by something absurd."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from apps.clusters.domain.rights import NEEDED_RIGHTS
from tests.services.gateway.serving import Answer, Served, serving
from tests.support.certificates import Pair

VERSION, APIS, NODES = "/version", "/apis", "/api/v1/nodes"
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
CLASSES, STORAGE = "/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/storage.k8s.io/v1/storageclasses"
GROUPS = ("batch/v1", "apps/v1", "kubeflow.org/v2beta1", "sparkoperator.k8s.io/v1beta2")
RIGHTS = len(NEEDED_RIGHTS)


def said(value: Any, status: int = 200) -> Answer:
    return Answer(status, orjson.dumps(value))


def a_list(*items: Any) -> Answer:
    return said({"metadata": {"resourceVersion": "1"}, "items": list(items)})


def a_node(name: str, **capacity: str) -> dict[str, Any]:
    """A ready node."""
    ready = {"type": "Ready", "status": "True"}
    return {"metadata": {"name": name}, "status": {"capacity": capacity, "conditions": [ready]}}


def known_as(uid: str) -> dict[str, Answer]:
    """The cluster of this identity."""
    return {KUBE_SYSTEM: said({"metadata": {"name": "kube-system", "uid": uid}})}


def well() -> dict[str, Answer]:
    """What a cluster answers on which everything is in order."""
    storage = {"metadata": {"name": "ceph", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    classes = (("platform-high", 1000, "Never"), ("platform-normal", 1000, None), ("platform-low", 500, "Never"))
    return {
        VERSION: said({"gitVersion": "v1.37.2"}),
        APIS: said({"groups": [{"versions": [{"groupVersion": group}]} for group in GROUPS]}),
        REVIEWS: said({"status": {"allowed": True}}, 201),
        CLASSES: a_list(
            *({"metadata": {"name": name}, "value": value, "preemptionPolicy": how} for name, value, how in classes)
        ),
        STORAGE: a_list(storage),
        NODES: a_list(a_node("cpu-0")),
    }


@contextmanager
def kubernetes_like(changes: dict[str, Answer] | None = None, *, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """A cluster on loopback that is well but for the changes; what is not asked for by the check list is 404."""
    with serving(said({"kind": "Status", "code": 404}, 404), tls=tls) as served:
        served.by_path = well() | (changes or {})
        yield served


def tls_of(pair: Pair, *, clients_of: Pair | None = None) -> ssl.SSLContext:
    """A server's side of TLS; with ``clients_of`` only clients with a certificate of that authority get in."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    if clients_of is not None:
        context.load_verify_locations(cadata=clients_of.certificate)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
