"""What the watch on a cluster's Nodes tells, written as Node rows in batches; silence changes nothing but its mark."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.clusters.domain.nodes import read_node
from apps.clusters.gateway.kube.reflector import Complete, Deleted, Delta, Seen
from apps.clusters.gateway.labels import POOL
from apps.clusters.gateway.port import Manifest, Resource
from apps.clusters.models import AcceleratorType, Cluster, Node, Pool
from apps.clusters.selectors import facts_of

REWRITTEN = ("uid", "mark", "cpu", "memory", "cards", "cards_capacity", "labels", "taints", "ready", "unschedulable")


@transaction.atomic
def record_nodes(cluster: Cluster, deltas: Sequence[Delta], *, now: datetime) -> None:
    """Record a batch of the node watch. A node keeps its pool; a new one joins the pool that its label names."""
    last: dict[str, Delta] = {}
    complete: frozenset[str] | None = None
    for delta in deltas:
        match delta:
            case Seen(Resource.NODE, item) | Deleted(Resource.NODE, item):
                last[_uid(item)] = delta
            case Complete(Resource.NODE, uids):
                complete = uids
    there = Node.objects.filter(cluster=cluster, gone_at=None)
    there.filter(uid__in=[uid for uid, delta in last.items() if isinstance(delta, Deleted)]).update(gone_at=now)
    seen = [delta.object for delta in last.values() if isinstance(delta, Seen)]
    if complete is not None:
        there.exclude(uid__in=complete | {_uid(item) for item in seen}).update(gone_at=now)
    if seen:
        _write(cluster, seen, now=now)


def _write(cluster: Cluster, seen: Sequence[Manifest], *, now: datetime) -> None:
    marks = {row.mark: row for row in AcceleratorType.objects.all()}
    pools = {pool.name: pool for pool in Pool.objects.all()}
    facts = {fact.name: fact for fact in (read_node(item, [facts_of(row) for row in marks.values()]) for item in seen)}
    rows = [
        Node(
            cluster=cluster,
            name=fact.name,
            uid=fact.uid,
            pool=pools.get(fact.labels.get(POOL, "")),
            mark=marks.get(fact.mark or ""),
            cpu=fact.cpu,
            memory=fact.memory,
            cards=fact.cards,
            cards_capacity=fact.cards_capacity,
            labels=dict(fact.labels),
            taints=[dict(taint) for taint in fact.taints],
            ready=fact.ready,
            unschedulable=fact.unschedulable,
            seen_at=now,
        )
        for _name, fact in sorted(facts.items())
    ]
    # ``pool`` is not among the rewritten columns: the platform decides it, the label on the cluster only follows.
    Node.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["cluster", "name"], update_fields=[*REWRITTEN, "seen_at", "gone_at"]
    )


def _uid(item: Manifest) -> str:
    return str((item.get("metadata") or {}).get("uid") or "")
