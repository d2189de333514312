"""Recording what a cluster's watches tell of tasks: workloads, pods and events, in batches, a transaction a task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import Q

from apps.clusters.gateway.kube.reflector import Complete, Deleted, Delta, Seen
from apps.clusters.gateway.port import Manifest, Resource
from apps.clusters.models import Cluster
from apps.live import publish
from apps.tasks.kinds.recording import (
    ClusterEvent,
    owner_of,
    read_event,
    recorded_pod,
    recorded_workload,
    storable,
    uid_of,
)
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Event, EventSource, Instance
from apps.tasks.services.settlement import next_seq, settle

logger = structlog.get_logger(__name__)
WORKLOADS = frozenset(kind.resource for kind in KINDS.values())
WATCHED = (*sorted(WORKLOADS), Resource.POD, Resource.EVENT)
"""What an observer watches on each cluster; a new kind brings its resource along."""


@dataclass
class Portion:
    """What one batch says about one attempt; the last word on an object counts."""

    workload: Seen | Deleted | None = None
    pods: dict[str, Seen | Deleted] = field(default_factory=dict)
    events: dict[str, ClusterEvent] = field(default_factory=dict)


def record(cluster: Cluster, deltas: Sequence[Delta], *, now: datetime) -> None:
    """Record a batch and derive the states of the tasks in it. Raises OperationalError or InterfaceError when the
    database is away: the caller repeats the batch, which is harmless."""
    for attempt_pk, portion in _portions(cluster, deltas, now=now).items():
        try:
            _record_one(cluster, attempt_pk, portion, now=now)
        except (OperationalError, InterfaceError):
            raise
        except (DatabaseError, ArithmeticError, LookupError, TypeError, ValueError):
            # One object that cannot be stored must not stop the other tasks of its cluster (F18).
            logger.exception("a task's observation was not recorded", attempt=attempt_pk, cluster=cluster.name)


def record_absence(attempt_pk: int, *, now: datetime) -> None:
    """The cluster was asked and has nothing of this attempt any more: write that down and settle the task."""
    with transaction.atomic():
        Attempt.objects.filter(pk=attempt_pk).update(workload={})
        attempt = Attempt.objects.select_related("task").get(pk=attempt_pk)
        _leave(attempt, list(Instance.objects.filter(attempt=attempt, gone_at=None)), now=now)
        settle(attempt_pk, now=now, verified=True)


def _portions(cluster: Cluster, deltas: Sequence[Delta], *, now: datetime) -> dict[int, Portion]:
    portions: defaultdict[int, Portion] = defaultdict(Portion)
    known = _attempts_of(cluster, deltas)
    events: dict[str, ClusterEvent] = {}
    for delta in deltas:
        match delta:
            case Seen(Resource.EVENT, item):
                events[uid_of(item)] = read_event(item, now=now)
            case Complete(resource, uids):
                _missing(cluster, portions, resource, uids)
            case Seen(resource, item) | Deleted(resource, item):
                owner = owner_of(item)
                if owner in known:
                    _sort_in(portions[known[owner]], resource, delta)
    for attempt_pk, event in _owned(cluster, events.values()):
        portions[attempt_pk].events[event.uid] = event
    return portions


def _sort_in(portion: Portion, resource: Resource, delta: Seen | Deleted) -> None:
    if resource is Resource.POD:
        portion.pods[uid_of(delta.object)] = delta
    elif resource in WORKLOADS:
        portion.workload = delta


def _attempts_of(cluster: Cluster, deltas: Iterable[Delta]) -> dict[tuple[UUID, int] | None, int]:
    """Attempts by task and number, on this cluster only: the same labels on another cluster are not ours (F19)."""
    owners = {owner_of(delta.object) for delta in deltas if isinstance(delta, Seen | Deleted)} - {None}
    tasks = {owner[0] for owner in owners if owner}
    rows = Attempt.objects.filter(cluster=cluster, task_id__in=tasks).values_list("task_id", "number", "pk")
    return {(task, number): pk for task, number, pk in rows if (task, number) in owners}


def _missing(cluster: Cluster, portions: dict[int, Portion], resource: Resource, uids: frozenset[str]) -> None:
    """After a whole list: what the tables still have and the list does not is gone, however its end was missed."""
    if resource is Resource.POD:
        there = Instance.objects.filter(attempt__cluster=cluster, gone_at=None).values_list("uid", "attempt_id")
        for uid, attempt_pk in there:
            if uid not in uids and uid not in portions[attempt_pk].pods:
                portions[attempt_pk].pods[uid] = Deleted(resource, {"metadata": {"uid": uid}})
    elif resource in WORKLOADS:
        kinds = [kind.name.value for kind in KINDS.values() if kind.resource is resource]
        standing = Attempt.objects.filter(cluster=cluster, removed_at=None, task__kind__in=kinds).exclude(workload={})
        for uid, attempt_pk in standing.values_list("workload_uid", "pk"):
            if uid not in uids and portions[attempt_pk].workload is None:
                portions[attempt_pk].workload = Deleted(resource, {"metadata": {"uid": uid}})


def _owned(cluster: Cluster, events: Iterable[ClusterEvent]) -> Iterable[tuple[int, ClusterEvent]]:
    """Events with the attempt whose pod or workload they speak of: by uid, else by a workload's exact unique name."""
    found = list(events)
    if not found:
        return []
    uids = {event.object_uid for event in found if event.object_uid}
    names = {name for event in found for name in event.possible_owners}
    pods = Instance.objects.filter(attempt__cluster=cluster, uid__in=uids).values_list("uid", "attempt_id")
    by_uid = dict(pods)
    by_name: dict[tuple[str, str], int] = {}
    workloads = Attempt.objects.filter(Q(workload_uid__in=uids) | Q(object_name__in=names), cluster=cluster)
    for pk, uid, namespace, name in workloads.values_list("pk", "workload_uid", "namespace", "object_name"):
        by_uid[uid] = pk
        by_name[(namespace, name)] = pk
    by_uid.pop("", None)
    return [(owner, event) for event in found if (owner := _owner_of_event(event, by_uid, by_name)) is not None]


def _owner_of_event(event: ClusterEvent, by_uid: dict[str, int], by_name: dict[tuple[str, str], int]) -> int | None:
    if event.object_uid in by_uid:
        return by_uid[event.object_uid]
    keys = [(event.namespace, name) for name in event.possible_owners]
    return next((by_name[key] for key in keys if key in by_name), None)


@transaction.atomic
def _record_one(cluster: Cluster, attempt_pk: int, portion: Portion, *, now: datetime) -> None:
    attempt = Attempt.objects.select_related("task").get(pk=attempt_pk)
    if portion.workload is not None:
        _record_workload(attempt, portion.workload)
    if portion.pods:
        _record_pods(attempt, portion.pods, now=now)
    if portion.events:
        _record_events(cluster, attempt, portion.events.values())
    settle(attempt_pk, now=now)


def _record_workload(attempt: Attempt, delta: Seen | Deleted) -> None:
    uid = uid_of(delta.object)
    rows = Attempt.objects.filter(pk=attempt.pk)
    if isinstance(delta, Seen):
        rows.update(workload=recorded_workload(delta.object), workload_uid=uid)
    else:
        # By uid: the end of a namesake that went before says nothing about the one that stands now.
        rows.filter(workload_uid=uid).update(workload={})


def _record_pods(attempt: Attempt, pods: dict[str, Seen | Deleted], *, now: datetime) -> None:
    rows = {row.uid: row for row in Instance.objects.filter(attempt=attempt, uid__in=list(pods))}
    seen: dict[str, Manifest] = {uid: delta.object for uid, delta in pods.items() if isinstance(delta, Seen)}
    fresh = [_new_instance(attempt, uid, item, now=now) for uid, item in seen.items() if uid not in rows]
    Instance.objects.bulk_create(fresh, ignore_conflicts=True)
    for uid, item in seen.items():
        if uid in rows:
            rows[uid].observed = recorded_pod(item)
            rows[uid].gone_at = None
    Instance.objects.bulk_update([rows[uid] for uid in seen if uid in rows], ["observed", "gone_at"])
    _leave(attempt, [row for uid, row in rows.items() if uid not in seen and row.gone_at is None], now=now)


def _new_instance(attempt: Attempt, uid: str, pod: Manifest, *, now: datetime) -> Instance:
    observed = recorded_pod(pod)
    name = str(observed["metadata"].get("name") or "")[:253]
    return Instance(
        attempt=attempt, uid=uid, name=name, state="", observed=observed, first_seen_at=now, seq=attempt.task.seq
    )


def _leave(attempt: Attempt, rows: list[Instance], *, now: datetime) -> None:
    """Pods that are no more keep their row and last state; what was observed of them is not needed any longer (F32)."""
    if not rows:
        return
    seq = next_seq(attempt.task)
    Instance.objects.filter(pk__in=[row.pk for row in rows]).update(gone_at=now, observed={}, seq=seq)
    publish.task_changed(attempt.task, "instance.changed")


def _record_events(cluster: Cluster, attempt: Attempt, events: Iterable[ClusterEvent]) -> None:
    """One row per event of the cluster; a repetition replaces its count and time instead of piling up (F32)."""
    by_key = {f"{cluster.pk}:{event.uid}"[:120]: event for event in events if event.uid}
    stored = Event.objects.filter(task=attempt.task, external_id__in=list(by_key))
    counts: dict[str | None, Any] = {
        row.external_id: row.numbers.get("count") for row in stored.only("external_id", "numbers")
    }
    news = {key: event for key, event in by_key.items() if counts.get(key) != event.count}
    if not news:
        return
    seq = next_seq(attempt.task)
    rows = [
        Event(
            task=attempt.task,
            attempt=attempt.number,
            at=event.at,
            source=EventSource.CLUSTER,
            token=event.reason,
            numbers=storable({"count": event.count, "object": event.object_kind, "name": event.object_name}),
            text=event.message,
            warning=event.warning,
            external_id=key,
            seq=seq,
        )
        for key, event in news.items()
    ]
    Event.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["task", "external_id"],
        update_fields=["at", "numbers", "text", "warning", "seq"],
    )
    publish.task_changed(attempt.task, "event.added")
