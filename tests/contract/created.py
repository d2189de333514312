"""An object of every kind, and how it comes back from its making, made steady for comparison."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.clusters.gateway.port import Resource
from tests.contract.cases import (
    claim,
    deployment,
    event,
    job,
    namespace,
    node,
    pod,
    priority_class,
    service,
    storage_class,
)

CREATED = Path(__file__).parents[1] / "recorded" / "created.json"
"""What the real control plane gave back of MADE (tests/support/recording.py)."""
MADE: dict[Resource, dict[str, Any]] = {
    Resource.NAMESPACE: namespace("kinds"),
    Resource.NODE: node("kinds"),
    Resource.POD: pod("kinds", schedulerName="nobody"),
    Resource.SERVICE: service("kinds"),
    Resource.EVENT: event("kinds"),
    Resource.PERSISTENT_VOLUME_CLAIM: claim("kinds"),
    Resource.DEPLOYMENT: deployment("kinds"),
    Resource.JOB: job("kinds"),
    Resource.PRIORITY_CLASS: priority_class("kinds"),
    Resource.STORAGE_CLASS: storage_class("kinds"),
}
_UNSTEADY = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
_ADDRESSES = ("clusterIP", "clusterIPs")
_ACCOUNT = ("serviceAccount", "serviceAccountName", "volumes")


def as_created(item: Mapping[str, Any], *, service_accounts: bool) -> dict[str, Any]:
    """Without what no two makings share; of a pod also without its account, which not every cluster makes."""
    uid = str(item["metadata"]["uid"])
    made: dict[str, Any] = json.loads(re.sub(re.escape(uid), "its-uid", json.dumps(item)))
    for key in _UNSTEADY:
        made["metadata"].pop(key, None)
    if made["kind"] == "Service":
        for key in _ADDRESSES:
            made["spec"].pop(key, None)
    if made["kind"] == "Pod" and service_accounts:
        for key in _ACCOUNT:
            made["spec"].pop(key)
        for container in made["spec"]["containers"]:
            container.pop("volumeMounts")
    return made
