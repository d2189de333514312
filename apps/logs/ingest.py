"""A batch of a log shipper into the store: whole in one transaction, answered only after its commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import DataError, transaction
from django.db.models import F
from prometheus_client import Counter as Metric

from apps.clusters.models import Cluster
from apps.live import publish
from apps.logs.domain.lines import NewLine, Source, new_line
from apps.logs.domain.vector import Fault, ReadEvent, VectorEvent, events, read
from apps.logs.models import SetAside
from apps.logs.selectors import Owner, owners, store
from apps.logs.store import Written

STORED = Metric("platform_log_lines_stored", "Log lines stored", ["cluster"])
REPEATED = Metric("platform_log_lines_repeated", "Log lines that came again and were not stored twice", ["cluster"])
SET_ASIDE = Metric("platform_log_events_set_aside", "Log events that could not become lines", ["cluster", "reason"])


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of a batch, as numbers of events."""

    stored: int
    repeated: int
    set_aside: Counter[Fault] = field(default_factory=Counter)


@dataclass(slots=True)
class _Rejects:
    """Events that do not become lines, by reason, with a sample each."""

    counts: Counter[Fault] = field(default_factory=Counter)
    samples: dict[Fault, str] = field(default_factory=dict)

    def add(self, fault: Fault, sample: str = "") -> None:
        self.counts[fault] += 1
        self.samples[fault] = sample[:500].replace("\x00", "␀").encode("utf-8", "replace").decode()


def ingest(cluster: Cluster, body: bytes, *, now: datetime) -> Summary:
    """Store the lines of one body sent for ``cluster``; raises NotJsonError, or DatabaseError from the store."""
    rejects = _Rejects()
    heard = _heard(events(body), rejects)
    with transaction.atomic():
        lines = _owned(cluster, heard, rejects)
        written = _write(lines, rejects)
        _count(cluster, rejects, now)
        for task_id, arrival in written.newest.items():
            publish.log_lines(task_id, arrival)
    repeated = len(lines) - written.stored - rejects.counts[Fault.UNSTORABLE]
    STORED.labels(cluster.name).inc(written.stored)
    REPEATED.labels(cluster.name).inc(repeated)
    for fault, count in rejects.counts.items():
        SET_ASIDE.labels(cluster.name, fault.value).inc(count)
    return Summary(written.stored, repeated, rejects.counts)


def _heard(found: Iterable[VectorEvent | Fault], rejects: _Rejects) -> list[ReadEvent]:
    heard: list[ReadEvent] = []
    for event in found:
        outcome = event if isinstance(event, Fault) else read(event)
        if isinstance(outcome, Fault):
            rejects.add(outcome, "" if isinstance(event, Fault) else f"{event.timestamp} {event.file}")
        else:
            heard.append(outcome)
    return heard


def _owned(cluster: Cluster, heard: Sequence[ReadEvent], rejects: _Rejects) -> list[NewLine]:
    """The lines whose pods are this cluster's own: a shipper never writes into another cluster's Task."""
    known = owners(cluster, (event.claim for event in heard))
    lines: list[NewLine] = []
    for event in heard:
        claim, owner = event.claim, known.get(event.claim)
        if owner is None:
            rejects.add(Fault.UNKNOWN_TASK if claim.task_id else Fault.NOT_OURS, f"{claim.namespace}/{claim.pod}")
        elif owner.namespace and owner.namespace != claim.namespace:
            rejects.add(Fault.WRONG_NAMESPACE, f"{claim.namespace}/{claim.pod}")
        else:
            lines.append(new_line(event.at_ns, _source(event, owner), event.message))
    return lines


def _source(event: ReadEvent, owner: Owner) -> Source:
    claim = event.claim
    return Source(str(owner.task_id), owner.attempt, claim.pod_uid, claim.pod, claim.container, claim.stream)


def _write(lines: Sequence[NewLine], rejects: _Rejects) -> Written:
    """Write all, or when the database cannot hold one of them, halves of them until that one is found and left out."""
    try:
        with transaction.atomic():
            return store().write(lines)
    except DataError:
        if len(lines) == 1:
            rejects.add(Fault.UNSTORABLE, lines[0].source.instance)
            return Written(0, {})
    middle = len(lines) // 2
    first, second = _write(lines[:middle], rejects), _write(lines[middle:], rejects)
    return replace(first, stored=first.stored + second.stored, newest={**first.newest, **second.newest})


def _count(cluster: Cluster, rejects: _Rejects, now: datetime) -> None:
    """Add to the cluster's counts; pods that are nobody's task are normal and only a metric."""
    for fault in sorted(rejects.counts.keys() - {Fault.NOT_OURS}):
        row, _created = SetAside.objects.get_or_create(
            cluster=cluster, reason=fault, defaults={"first_at": now, "last_at": now}
        )
        SetAside.objects.filter(pk=row.pk).update(
            count=F("count") + rejects.counts[fault], sample=rejects.samples[fault], last_at=now
        )
