"""What each tab of a task's page shows, read in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict

from apps.tasks import selectors
from apps.tasks.domain import spec as specs
from apps.tasks.domain.immutability import diff
from apps.tasks.domain.splitting import REQUEST_DIVISOR
from apps.tasks.domain.wire import to_wire
from apps.tasks.models import Attempt, Container, EventSource, Instance, Revision, Task
from apps.tasks.web.yaml_text import as_yaml

MOST_SQUARES = 1000
MOST_INSTANCES = 500
EVENTS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Stretch:
    """One part of an attempt's life: from when to when (None: still)."""

    state: str
    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One container's part of each node: limits and requests in millicores and MiB."""

    name: str
    image: str
    cpu_limit: int
    memory_limit: int
    cpu_request: int
    memory_request: int
    cards: int


def overview(task: Task, attempt: Attempt | None) -> dict[str, Any]:
    """The life line, the present instances, the split and the last events."""
    shown = list(selectors.instances(task)[: MOST_SQUARES + 1])
    revision = selectors.revisions(task).first()
    return {
        "life": life_line(task, attempt),
        "instances": shown[:MOST_SQUARES],
        "more_instances": len(shown) > MOST_SQUARES,
        "split": split_rows(revision),
        "recent": selectors.events(task)[:8],
    }


def life_line(task: Task, attempt: Attempt | None) -> list[Stretch]:
    """Queued, starting, running of the present attempt, as far as it has come."""
    admitted = attempt.admitted_at if attempt else None
    running = attempt.running_at if attempt else None
    ended = task.finished_at or (attempt.finished_at if attempt else None)
    line = [Stretch("queued", task.queued_at, admitted or ended)]
    if admitted:
        line.append(Stretch("starting", admitted, running or ended))
    if running:
        line.append(Stretch("running", running, ended))
    return line


def split_rows(revision: Revision | None) -> list[ShareRow]:
    """The share of every container as it stands beside the revision; requests are a quarter (domain.md §4)."""
    return [_share(container) for container in revision.containers.all()] if revision else []


def _share(row: Container) -> ShareRow:
    return ShareRow(
        row.name,
        row.image,
        row.cpu_limit,
        row.memory_limit,
        max(1, row.cpu_limit // REQUEST_DIVISOR),
        max(1, row.memory_limit // REQUEST_DIVISOR),
        row.cards,
    )


def instances_tab(task: Task, *, wanted: str) -> dict[str, Any]:
    """The pods of one attempt, and which attempts there are."""
    attempts = list(selectors.attempts(task))
    number = _number(wanted, {attempt.number for attempt in attempts}, task.attempt)
    chosen = next((attempt for attempt in attempts if attempt.number == number), None)
    rows: list[Instance] = list(selectors.instances(task, attempt=number)[:MOST_INSTANCES])
    return {"attempts": attempts, "chosen": chosen, "instances": rows}


def logs_tab(task: Task, given: QueryDict) -> dict[str, Any]:
    """What the log viewer's pickers offer; the lines come over REST and the socket."""
    spec = specs.from_json(task.spec)
    attempts = [attempt.number for attempt in selectors.attempts(task)]
    return {
        "containers": [container.name for container in spec.containers],
        "instances": [row.name for row in selectors.instances(task)[:MOST_INSTANCES]],
        "attempts": attempts,
        "chosen": {name: given.get(name, "") for name in ("instance", "container", "attempt", "q")},
    }


def events_tab(task: Task, given: QueryDict) -> dict[str, Any]:
    """One page of what happened, the newest first, of one source or of all."""
    source = given.get("source", "")
    events = selectors.events(task)
    if source in EventSource.values:
        events = events.filter(source=source)
    page = Paginator(events, EVENTS_PER_PAGE).get_page(given.get("page", "1"))
    return {"page": page, "source": source, "sources": EventSource.values}


def revisions_tab(task: Task, given: QueryDict) -> dict[str, Any]:
    """Every revision, and the difference between two of them (the newest and the one before, if none are named)."""
    revisions = list(selectors.revisions(task)[:200])
    by_number = {revision.number: revision for revision in revisions}
    newest = revisions[0].number if revisions else 0
    new = _number(given.get("new", ""), by_number.keys(), newest)
    old = _number(given.get("old", ""), by_number.keys(), max((n for n in by_number if n < new), default=new))
    rows = diff(specs.from_json(by_number[old].spec), specs.from_json(by_number[new].spec)) if old != new else ()
    return {"revisions": revisions, "new": new, "old": old, "diff": rows}


def yaml_tab(task: Task, attempt: Attempt | None) -> dict[str, Any]:
    """What was asked for, and what the cluster says runs."""
    return {
        "asked": as_yaml(to_wire(specs.from_json(task.spec))),
        "runs": as_yaml(_without_noise(attempt.workload)) if attempt and attempt.workload else "",
    }


def _without_noise(workload: Mapping[str, Any]) -> dict[str, Any]:
    """The object without who-wrote-which-field, which is longer than the rest and says nothing to a person."""
    metadata = {key: value for key, value in workload.get("metadata", {}).items() if key != "managedFields"}
    return {**workload, "metadata": metadata}


def _number(text: str, known: Any, fallback: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 and int(text) in known else fallback
