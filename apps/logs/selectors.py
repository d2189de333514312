"""Lines as people read them: pages by place in both directions, and whole logs as a stream of bounded memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import Q

from apps.clusters.models import Cluster
from apps.live.payloads import LogLine
from apps.logs.domain.lines import START, LineFilter, Place, StoredLine, format_time, to_nanoseconds
from apps.logs.domain.vector import Claim, owner_names
from apps.logs.postgres_store import PostgresStore
from apps.logs.store import LogStore
from apps.tasks.models import Attempt, Instance

LARGEST_PAGE = 5000
STREAM_PAGE = 2000


@dataclass(frozen=True, slots=True)
class LinePage:
    """Some lines in order; ``next`` and ``previous`` are the places to go on from, None where nothing is left."""

    lines: tuple[StoredLine, ...]
    next: Place | None = None
    previous: Place | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """The attempt that lines belong to, and the namespace that its pods live in (empty: not known yet)."""

    task_id: UUID
    attempt: int
    namespace: str


def store() -> LogStore:
    """The platform's log store."""
    return PostgresStore()


def line_filter(
    *,
    attempt: int | None = None,
    instance: str | None = None,
    container: str | None = None,
    stream: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    q: str | None = None,
) -> LineFilter:
    """What a reader asked for, with aware moments instead of nanoseconds."""
    return LineFilter(
        attempt=attempt,
        instance=instance,
        container=container,
        stream=stream,
        since_ns=to_nanoseconds(since) if since else None,
        until_ns=to_nanoseconds(until) if until else None,
        q=(q or "").replace("\x00", ""),
    )


def lines(  # noqa: PLR0913 - one keyword per query parameter of rest.md
    task_id: UUID,
    *,
    attempt: int | None = None,
    instance: str | None = None,
    container: str | None = None,
    stream: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: Place | None = None,
    before: Place | None = None,
    tail: int | None = None,
    q: str | None = None,
    limit: int = 1000,
) -> LinePage:
    """A page of at most ``limit`` (≤ 5000) lines.

    ``after`` a place: the lines behind it. ``before`` one: the last ones ahead of it. ``tail`` N: from the N-th newest
    line on. None of them: from the first line.
    """
    wanted = line_filter(
        attempt=attempt, instance=instance, container=container, stream=stream, since=since, until=until, q=q
    )
    count = max(1, min(limit, LARGEST_PAGE))
    if before is not None and after is None:
        found = store().backwards(task_id, wanted, before=before, limit=count + 1)
        kept = found[-count:]
        return LinePage(tuple(kept), next=kept[-1].place if kept else None, previous=_more(found, count, kept[:1]))
    if tail is not None and after is None:
        after = _just_ahead_of(store().nth_newest(task_id, wanted, max(1, tail)))
    found = store().forwards(task_id, wanted, after=after or START, limit=count + 1)
    kept = found[:count]
    previous = kept[0].place if kept and after is not None else None
    return LinePage(tuple(kept), next=_more(found, count, kept[-1:]), previous=previous)


def wire(line: StoredLine) -> LogLine:
    """The line as REST and the socket give it (rest.md)."""
    return {
        "at": format_time(line.place.at_ns),
        "attempt": line.attempt,
        "instance": line.instance,
        "container": line.container,
        "stream": line.stream,
        "text": line.text,
        "place": str(line.place),
    }


async def stream_lines(task_id: UUID, wanted: LineFilter, *, after: Place = START) -> AsyncIterator[list[StoredLine]]:
    """Every line in order, page by page: memory stays flat however long the log is (failures F22)."""
    place = after
    while True:
        page = await sync_to_async(store().forwards)(task_id, wanted, after=place, limit=STREAM_PAGE)
        if page:
            yield page
        if len(page) < STREAM_PAGE:
            return
        place = page[-1].place


async def download(task_id: UUID, wanted: LineFilter) -> AsyncIterator[bytes]:
    """The whole log as text, one line a line: time, instance, container, text."""
    async for page in stream_lines(task_id, wanted):
        yield "".join(as_text(page)).encode()


def as_text(page: Iterable[StoredLine]) -> Iterable[str]:
    """Lines of a text file; a carriage return inside a line cannot hide what stands before it."""
    for line in page:
        text = line.text.replace("\r", "␍")
        yield f"{format_time(line.place.at_ns)} {line.instance} {line.container} {line.stream} {text}\n"


def owners(cluster: Cluster, claims: Iterable[Claim]) -> dict[Claim, Owner]:
    """The attempts on this cluster that the claims belong to; a claim on another cluster's attempt has no entry.

    At most three queries: by the pods' labels, by pods the observer has seen, by the name that the pod's carries.
    """
    wanted = set(claims)
    labelled = {claim for claim in wanted if claim.task_id}
    found = _by_label(cluster, labelled)
    bare = wanted - labelled
    found |= _by_pod(cluster, bare)
    return found | _by_name(cluster, bare - found.keys())


def _by_label(cluster: Cluster, claims: set[Claim]) -> dict[Claim, Owner]:
    if not claims:
        return {}
    rows = Attempt.objects.filter(cluster=cluster, task_id__in={claim.task_id for claim in claims})
    known = {(str(row.task_id), row.number): row for row in rows.only("task_id", "number", "namespace")}
    return {claim: _owner(known[key]) for claim in claims if (key := (claim.task_id, claim.attempt)) in known}


def _by_pod(cluster: Cluster, claims: set[Claim]) -> dict[Claim, Owner]:
    if not claims:
        return {}
    seen = Instance.objects.filter(attempt__cluster=cluster, uid__in={claim.pod_uid for claim in claims})
    known = {row.uid: row.attempt for row in seen.select_related("attempt").only("uid", "attempt")}
    return {claim: _owner(known[claim.pod_uid]) for claim in claims if claim.pod_uid in known}


def _by_name(cluster: Cluster, claims: set[Claim]) -> dict[Claim, Owner]:
    """Pods too new for the observer: their name begins with the attempt's whole object name, which is unique."""
    names = {name for claim in claims for name in owner_names(claim.pod)}
    if not names:
        return {}
    rows = Attempt.objects.filter(Q(cluster=cluster), object_name__in=names).exclude(namespace="")
    known = {(row.object_name, row.namespace): row for row in rows}
    return {
        claim: _owner(known[key])
        for claim in claims
        for name in owner_names(claim.pod)
        if (key := (name, claim.namespace)) in known
    }


def _owner(row: Attempt) -> Owner:
    return Owner(row.task_id, row.number, row.namespace)


def _more(found: list[StoredLine], count: int, edge: list[StoredLine]) -> Place | None:
    return edge[0].place if edge and len(found) > count else None


def _just_ahead_of(place: Place | None) -> Place:
    return START if place is None else Place(place.at_ns, place.arrival - 1)
