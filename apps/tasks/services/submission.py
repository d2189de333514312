"""Submitting: check, book, store; the cluster hears of it later (intent before effect, architecture.md §6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters.domain.marks import MarkFacts
from apps.kernel import ids
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.names import object_name
from apps.live import publish
from apps.organisations.models import Project
from apps.quotas import services as quotas
from apps.tasks import access, nudges, selectors
from apps.tasks.domain import spec as specs
from apps.tasks.domain.checks import check
from apps.tasks.domain.spec import Priority, TaskSpec
from apps.tasks.domain.splitting import booked, split
from apps.tasks.domain.states import State
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Container, Revision, Task
from apps.tasks.services import moves


def submit_task(spec: TaskSpec, *, by: User, now: datetime, source: str = "", clone_of: Task | None = None) -> Task:
    """Store a new task in the queue with its quota held; raises Refused (checks, quota_exceeded, duplicate_name)."""
    project = access.project_for_submission(by, spec.project)
    marks = selectors.mark_facts()
    fault = fault_in(spec, marks)
    if fault is not None:
        raise Refused(fault)
    with transaction.atomic():
        task = _stored(spec, project=project, by=by, now=now, mark=_mark_of(spec, marks))
        hold(task, spec, mark=_mark_of(spec, marks), now=now)
        _first_event(task, by=by, now=now, clone_of=clone_of)
        after = {"kind": task.kind, "name": task.display_name, "object": task.object_name}
        audit.record("task.submitted", on=task, by=by, now=now, after=after, source=source)
        publish.task_changed(task)
        nudges.admit_soon()
    return task


def fault_in(spec: TaskSpec, marks: Mapping[str, MarkFacts]) -> Refusal | None:
    """Why the spec can never run: what its kind does not know, then what no node could hold (domain.md §5)."""
    return KINDS[spec.kind].spec_fault(spec) or check(spec, marks=marks, largest=selectors.largest_nodes())


def hold(task: Task, spec: TaskSpec, *, mark: MarkFacts | None, now: datetime) -> None:
    """Hold the scope's quota for a normal task; where it does not suffice, a Project's own pool may still do.

    Raises Refused (quota_exceeded) when neither can ever hold it (domain.md §6).
    """
    if spec.priority is not Priority.NORMAL:
        return
    refusal = quotas.hold(
        project=task.project,
        user=task.owner,
        amounts=booked(spec, mark),
        task_id=task.pk,
        attempt=task.attempt,
        now=now,
    )
    if refusal is not None and not own_pool_could_hold(task.project, spec, mark):
        raise Refused(refusal)


def own_pool_could_hold(project: Project | None, spec: TaskSpec, mark: MarkFacts | None) -> bool:
    """Whether the Project's own pools, all empty, have room for the task."""
    return project is not None and selectors.pool_capacity_covers(project, spec, mark)


def record_shape(task: Task, revision: Revision, spec: TaskSpec, mark: MarkFacts | None) -> None:
    """Write each container's share of the machine beside its revision; raises Refused when it cannot be split."""
    shares = split(spec.containers, spec.resources, mark)
    if isinstance(shares, Refusal):
        raise Refused(shares)
    Container.objects.bulk_create(
        Container(
            revision=revision,
            position=position,
            name=container.name,
            image=container.image,
            cpu_limit=share.cpu_limit,
            memory_limit=share.memory_limit,
            cards=share.cards,
        )
        for position, (container, share) in enumerate(zip(spec.containers, shares, strict=True))
    )


def _stored(spec: TaskSpec, *, project: Project | None, by: User, now: datetime, mark: MarkFacts | None) -> Task:
    name = object_name(spec.display_name, ids.name_entropy())
    task = Task(
        kind=spec.kind,
        display_name=spec.display_name,
        object_name=name,
        owner=by,
        project=project,
        priority=spec.priority,
        mark=spec.resources.mark or "",
        cards=spec.resources.cards_per_node * spec.resources.nodes,
        nodes=spec.resources.nodes,
        spec=specs.to_json(spec),
        state=State.QUEUED,
        created_at=now,
        queued_at=now,
        seq=1,
    )
    try:
        with transaction.atomic():
            task.save(force_insert=True)
    except IntegrityError as fault:
        raise duplicate_name(spec.display_name) from fault
    revision = Revision.objects.create(task=task, number=1, spec=task.spec, author=by, created_at=now)
    record_shape(task, revision, spec, mark)
    Attempt.objects.create(task=task, number=1, object_name=name, created_at=now)
    return task


def duplicate_name(name: str) -> Refused:
    """The refusal of a display name that a live task of the scope has."""
    message = _("“%(name)s” is taken by a live task of the same scope; choose another name.") % {"name": name}
    return refuse(Code.DUPLICATE_NAME, message, fields={"display_name": [message]})


def _mark_of(spec: TaskSpec, marks: dict[str, MarkFacts]) -> MarkFacts | None:
    return marks[spec.resources.mark] if spec.resources.mark else None


def _first_event(task: Task, *, by: User, now: datetime, clone_of: Task | None) -> None:
    numbers = {"clone_of": str(clone_of.pk), "clone_of_name": clone_of.display_name} if clone_of else {}
    moves.note(task, "Submitted", now=now, by=by, numbers=numbers)
