"""What changed of a Task since a listener last heard, read from the tables and said as messages (rest.md, WebSocket).

Rights are looked up afresh each time: whoever may not read the Task any more gets no news of it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet, Sum

from apps.accounts.models import User
from apps.live.payloads import EventAdded, InstanceChanged, TaskChanged
from apps.organisations import access as organisations
from apps.tasks import access
from apps.tasks.domain.states import FINAL
from apps.tasks.models import Event, Instance, Task

MOST_MISSED = 500

Said = TaskChanged | InstanceChanged | EventAdded


@dataclass(frozen=True, slots=True)
class Known:
    """How far a listener has heard: the Task's ``seq`` and the newest Event's row."""

    seq: int
    event: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """Messages in order of ``seq``, None when more was missed than is worth telling one by one."""

    known: Known
    messages: tuple[Said, ...] | None


@dataclass(frozen=True, slots=True)
class Scopes:
    """Whose Tasks a person hears of: everybody's, or those of these Projects and the personal ones."""

    user_id: int
    everything: bool
    projects: frozenset[int]

    def hold(self, project_id: int | None, owner_id: int) -> bool:
        """Whether a Task of this scope is among them."""
        return self.everything or (owner_id == self.user_id if project_id is None else project_id in self.projects)


def present(user_id: int, pk: UUID) -> Known | None:
    """Where the Task stands now; None for whoever may not read it."""
    task = _visible(user_id, pk)
    return None if task is None else Known(task.seq, _newest_event(task))


def news(user_id: int, pk: UUID, known: Known) -> News | None:
    """What the person has not heard of the Task; None for whoever may not read it (any more)."""
    task = _visible(user_id, pk)
    if task is None:
        return None
    # What was committed after the look at the Task itself comes with the next news, together with that change.
    unheard = task.events.filter(Q(seq__gt=known.seq) | Q(pk__gt=known.event), seq__lte=task.seq)
    events = list(unheard.order_by("pk")[: MOST_MISSED + 1])
    now_known = Known(task.seq, max([known.event, *(event.pk for event in events)]))
    if task.seq == known.seq and not events:
        return News(now_known, ())
    instances = _changed_instances(task, known)
    if known.seq > task.seq or len(events) + len(instances) > MOST_MISSED:
        return News(Known(task.seq, _newest_event(task)), None)
    said: list[Said] = [
        *(_event_added(event, task) for event in events),
        *(_instance_changed(instance) for instance in instances),
    ]
    said.sort(key=lambda message: message["seq"])
    changed: list[Said] = [task_changed(task)] if task.seq > known.seq else []
    return News(now_known, (*said, *changed))


def task_changed(task: Task, *, seq: int | None = None) -> TaskChanged:
    """The Task's present state, small enough to be sent often."""
    reason = {"token": task.reason, "numbers": task.reason_numbers, "since": _at(task.reason_since)}
    told: dict[str, Any] = {
        "id": str(task.pk),
        "display_name": task.display_name,
        "kind": task.kind,
        "state": task.state,
        "intent": task.intent,
        "reason": reason if task.reason else None,
        "nodes": task.nodes,
        "nodes_ready": task.nodes_ready,
        "attempt": task.attempt,
        "revision": task.revision,
        "version": task.version,
        "seq": task.seq,
        "started_at": _at(task.started_at),
        "finished_at": _at(task.finished_at),
        "deleted": task.deleted_at is not None,
    }
    return {"type": "task.changed", "seq": task.seq if seq is None else seq, "task": told}


def scopes_of(user_id: int) -> Scopes | None:
    """Whose Tasks the person may hear of now; None for somebody who is gone or locked out."""
    user = _person(user_id)
    if user is None:
        return None
    if user.is_superuser or user.is_auditor:
        return Scopes(user_id, True, frozenset())
    return Scopes(user_id, False, frozenset(organisations.roles_of(user)))


def changed_tasks(pks: Collection[UUID]) -> list[Task]:
    """The rows behind some nudges, deleted ones too: whoever lists them must hear of it."""
    return list(Task.objects.filter(pk__in=pks).select_related("project", "owner").order_by("pk"))


def fingerprint(user_id: int, *, recent: datetime) -> tuple[int, int]:
    """Numbers that differ once anything a person lists has changed: how many unfinished or recent Tasks, and Σ seq."""
    user = _person(user_id)
    if user is None:
        return (0, 0)
    lively: QuerySet[Task] = access.visible_tasks(user).filter(
        ~Q(state__in=[state.value for state in FINAL]) | Q(finished_at__gte=recent)
    )
    found = lively.order_by().aggregate(tasks=Count("pk"), changes=Sum("seq"))
    return found["tasks"], found["changes"] or 0


def _person(user_id: int) -> User | None:
    return User.objects.filter(pk=user_id, is_active=True).first()


def _visible(user_id: int, pk: UUID) -> Task | None:
    user = _person(user_id)
    return None if user is None else access.visible_tasks(user).filter(pk=pk).first()


def _newest_event(task: Task) -> int:
    return task.events.aggregate(newest=Max("pk"))["newest"] or 0


def _changed_instances(task: Task, known: Known) -> list[Instance]:
    changed = Instance.objects.filter(attempt__task=task, seq__gt=known.seq, seq__lte=task.seq).select_related(
        "attempt"
    )
    return list(changed.defer("observed").order_by("seq", "pk")[: MOST_MISSED + 1])


def _event_added(event: Event, task: Task) -> EventAdded:
    told = {
        "id": event.pk,
        "at": _at(event.at),
        "attempt": event.attempt,
        "source": event.source,
        "token": event.token,
        "numbers": event.numbers,
        "text": event.text,
        "warning": event.warning,
    }
    # An event without a change of its own rides on the Task's present number.
    return {"type": "event.added", "seq": event.seq or task.seq, "event": told}


def _instance_changed(instance: Instance) -> InstanceChanged:
    told = {
        "uid": instance.uid,
        "name": instance.name,
        "attempt": instance.attempt.number,
        "node": instance.node,
        "state": instance.shown_state,
        "reason": instance.reason,
        "message": instance.message,
        "restarts": instance.restarts,
        "exit_code": instance.exit_code,
        "containers": instance.shown_containers,
        "started_at": _at(instance.started_at),
        "gone_at": _at(instance.gone_at),
    }
    return {"type": "instance.changed", "seq": instance.seq, "instance": told}


def _at(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
