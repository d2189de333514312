"""What tasks stand on: the pools that nodes are in, the labels and PriorityClasses on each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters.domain.node_labels import label_changes
from apps.clusters.gateway import registry
from apps.clusters.gateway.port import ClusterGateway, Manifest, ObjectRef, Resource
from apps.clusters.models import Cluster, Node, Pool

# Values and policies of domain.md §8: high and normal are equals, so neither can ever displace the other.
PRIORITY_CLASSES = (
    ("platform-high", 1000, "Never"),
    ("platform-normal", 1000, "PreemptLowerPriority"),
    ("platform-low", 500, "Never"),
)


@transaction.atomic
def assign_pool(nodes: Sequence[Node], pool: Pool | None, *, by: User, now: datetime, source: str = "") -> None:
    """Put nodes into a pool, or into none; the clusters' labels follow with the next check (``label_nodes``)."""
    for node in (
        Node.objects.select_for_update(of=("self",))
        .select_related("pool")
        .filter(pk__in=[n.pk for n in nodes])
        .order_by("pk")
    ):
        if node.pool_id == (pool.pk if pool else None):
            continue
        before, after = {"pool": node.pool.name if node.pool else None}, {"pool": pool.name if pool else None}
        Node.objects.filter(pk=node.pk).update(pool=pool)
        audit.record("node.pool_set", on=node, by=by, now=now, before=before, after=after, source=source)


def label_nodes(cluster: Cluster, *, gateway: ClusterGateway | None = None) -> int:
    """Write each node's pool and mark as its labels; returns how many nodes differed. Raises GatewayError."""
    gateway = gateway or registry.gateway_for(cluster)
    changed = 0
    for node in Node.objects.select_related("pool", "mark").filter(cluster=cluster, gone_at=None):
        pool, mark = node.pool.name if node.pool else None, node.mark.mark if node.mark else None
        selector = node.mark.node_selector if node.mark else {}
        if changes := label_changes(node.labels, pool=pool, mark=mark, selector=selector):
            gateway.merge(ObjectRef(Resource.NODE, node.name), {"metadata": {"labels": changes}})
            changed += 1
    return changed


def priority_classes() -> tuple[Manifest, ...]:
    """The PriorityClasses that every cluster has (domain.md §8)."""
    return tuple(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "platform"}},
            "value": value,
            "preemptionPolicy": policy,
            "globalDefault": False,
            "description": "Set by the platform by a task's priority.",
        }
        for name, value, policy in PRIORITY_CLASSES
    )


def install_priority_classes(gateway: ClusterGateway) -> None:
    """Make the three PriorityClasses exist; a class of the same name is left as it is. Raises GatewayError."""
    for manifest in priority_classes():
        if gateway.read(ObjectRef(Resource.PRIORITY_CLASS, manifest["metadata"]["name"])) is None:
            gateway.create(Resource.PRIORITY_CLASS, manifest)
