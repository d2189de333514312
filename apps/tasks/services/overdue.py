"""The pending timeout: time in the queue and on the way to the first container, and no other (domain.md §8; F13)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import OuterRef, Subquery

from apps.tasks.domain.spec import DEFAULT_PENDING_TIMEOUT
from apps.tasks.domain.states import Reason, State
from apps.tasks.models import Attempt, Task
from apps.tasks.services import moves
from apps.tasks.services.settlement import end

WAITING = (State.QUEUED, State.STARTING)
NOTICE = "PendingTimeoutSoon"
NOTICE_PERCENT = 80


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a task has been pending, and how long it may; ``limit`` 0 is for ever. Whole seconds."""

    waited: int
    limit: int

    @property
    def over(self) -> bool:
        return 0 < self.limit <= self.waited

    @property
    def soon(self) -> bool:
        return 0 < self.limit * NOTICE_PERCENT <= self.waited * 100


def end_overdue(*, now: datetime) -> int:
    """End the tasks that waited longer than they may, and tell once those that soon will have; how many ended."""
    ended = 0
    present = Attempt.objects.filter(task=OuterRef("pk"), number=OuterRef("attempt"))
    # The database leaves out whoever cannot be due yet; run times are looked at task by task.
    tasks = Task.objects.filter(state__in=WAITING, deleted_at=None).annotate(
        ran_at=Subquery(present.values("running_at")[:1])
    )
    for task in tasks.order_by("queued_at").iterator(chunk_size=500):
        waiting = _waiting(task, task.ran_at, now=now)
        if waiting is None:
            continue
        if waiting.over:
            ended += _end(task, waiting, now=now)
        elif waiting.soon:
            _tell_once(task, waiting, now=now)
    return ended


def _waiting(task: Task, ran_at: datetime | None, *, now: datetime) -> Waiting | None:
    """None for a task whose containers ran since it queued: what it does now is running, not waiting."""
    limit = int(task.spec.get("pending_timeout", DEFAULT_PENDING_TIMEOUT))
    since = task.queued_at
    if ran_at is not None and ran_at >= task.queued_at:
        if task.state != State.QUEUED:
            return None
        # Sent back to the queue with its first submit time: the run in between is no waiting.
        since = max(ran_at, task.reason_since or ran_at)
    return Waiting(int((now - since) / timedelta(seconds=1)), limit)


@transaction.atomic
def _end(task: Task, waiting: Waiting, *, now: datetime) -> bool:
    attempt = Attempt.objects.select_related("task").get(task=task, number=task.attempt)
    numbers = {"waited": waiting.waited, "limit": waiting.limit}
    ended = end(
        attempt,
        state=State.FAILED,
        reason=Reason.PENDING_TIMEOUT,
        numbers={**numbers, "before": task.reason} if task.reason else numbers,
        text="",
        now=now,
        expected=[State(task.state)],
    )
    if ended:
        Attempt.objects.filter(pk=attempt.pk).update(next_try_at=None)
    return ended


def _tell_once(task: Task, waiting: Waiting, *, now: datetime) -> None:
    told = task.events.filter(token=NOTICE, attempt=task.attempt, at__gte=task.queued_at)
    if not told.exists():
        with transaction.atomic():
            moves.touch(task)
            numbers = {"waited": waiting.waited, "limit": waiting.limit}
            moves.note(task, NOTICE, now=now, numbers=numbers, warning=True)
