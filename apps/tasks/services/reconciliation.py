"""Taking an attempt to reconcile, and writing down how it went: guarded by a token, so that two never do it at once.

Between the two lie the cluster calls, outside any transaction (architecture.md §6).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models import Case, F, Q, Value, When

from apps.clusters import services as clusters
from apps.clusters.domain.profile import ClusterProfile, read_profile
from apps.clusters.gateway.port import Conflict, Forbidden, GatewayError, Manifest, Resource, Transient
from apps.clusters.models import Cluster
from apps.kernel import ids
from apps.kernel.errors import Refused
from apps.tasks import selectors
from apps.tasks.domain import spec as specs
from apps.tasks.domain.naming import namespace_for, scope_label
from apps.tasks.domain.reconcile import Wanted
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import FINAL, Intent, Reason, State
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Attempt, Task
from apps.tasks.services import moves
from apps.tasks.services.lifecycle import begin_attempt
from apps.tasks.services.observation import record_absence
from apps.tasks.services.settlement import RETENTION, end

logger = structlog.get_logger(__name__)
# A worker is ended by force when one look takes longer; the lock outlives that, so a token never has two living holders
# and what a slow worker still sends cannot arrive after a faster one has removed everything.
LONGEST_LOOK_SECONDS = 40
LOCK = timedelta(seconds=LONGEST_LOOK_SECONDS + 5)
SETTLED_LOOK = timedelta(minutes=5)
MOVING_LOOK = timedelta(seconds=10)
LEAVING_LOOK = timedelta(seconds=2)
LONGEST_PAUSE = 60
# How long a cluster may keep an admitted task waiting without an answer before others are asked (start_patience).
START_PATIENCE = timedelta(minutes=5)
# About four minutes of waiting for a name or a namespace that is in the way (F08), then the attempt ends.
MOST_BLOCKED_TRIES = 8
# Ends that the platform decides while pods may still be on their way: their objects go at once.
CUT_SHORT = (Reason.REJECTED, Reason.PENDING_TIMEOUT)
MOVING = (State.STARTING, State.UPDATING, State.PAUSING, State.STOPPING, State.DEGRADED)


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt to reconcile, with all that its cluster calls need; ``token`` proves that it is still ours."""

    attempt_pk: int
    token: UUID
    cluster: Cluster
    wanted: Wanted
    workload: Resource
    revision: int

    @property
    def leaving(self) -> bool:
        """Whether nothing shall be left on the cluster."""
        return self.wanted.remove or self.wanted.intent is Intent.STOP


def due(*, now: datetime, limit: int = 200) -> list[int]:
    """Attempts that have something on a cluster and whose time has come, the longest waiting first."""
    open_ones = Attempt.objects.filter(admitted_at__isnull=False, removed_at=None)
    ready = open_ones.filter(
        Q(next_try_at=None) | Q(next_try_at__lte=now), Q(lock_expires_at=None) | Q(lock_expires_at__lte=now)
    )
    return list(ready.order_by(F("next_try_at").asc(nulls_first=True), "pk").values_list("pk", flat=True)[:limit])


@transaction.atomic
def claim(attempt_pk: int, *, now: datetime) -> Claim | None:
    """Take the attempt, or None when somebody has it or nothing is to do. Its namespace is stored before any call."""
    free = Attempt.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        Q(lock_expires_at=None) | Q(lock_expires_at__lte=now),
        pk=attempt_pk,
        admitted_at__isnull=False,
        removed_at=None,
    )
    attempt = free.select_related("task__project", "task__owner", "cluster", "pool").first()
    if attempt is None or attempt.cluster is None:
        return None
    if _rests(attempt, now=now):
        Attempt.objects.filter(pk=attempt.pk).update(next_try_at=(attempt.finished_at or now) + RETENTION)
        return None
    token = ids.new_id()
    attempt.namespace = attempt.namespace or _namespace(attempt, attempt.cluster)
    # ``next_try_at`` serves as a bell while the token is held: who rings (sets it to NULL) meanwhile is heard after.
    Attempt.objects.filter(pk=attempt.pk).update(
        namespace=attempt.namespace, lock_token=token, lock_expires_at=now + LOCK, next_try_at=now + LOCK
    )
    kind = KINDS[KindName(attempt.task.kind)]
    wanted = _wanted(attempt, attempt.cluster, now=now)
    return Claim(attempt.pk, token, attempt.cluster, wanted, kind.resource, attempt.task.revision)


def agreed(claim: Claim, *, empty: bool, changed: bool, now: datetime) -> None:
    """The cluster has been told everything; ``empty``: and it has nothing of this attempt."""
    rests = empty and (claim.leaving or claim.wanted.intent is Intent.PAUSE)
    with transaction.atomic():
        attempt = Attempt.objects.select_for_update(of=("self",)).select_related("task").get(pk=claim.attempt_pk)
        if attempt.lock_token != claim.token:
            return
        if not claim.leaving and not rests:
            attempt.applied_at = attempt.applied_at or now
            attempt.applied_revision = claim.revision
        if rests and claim.leaving:
            attempt.removed_at = now
        attempt.lock_token, attempt.lock_expires_at, attempt.tries = None, None, 0
        attempt.save(
            update_fields=["applied_at", "applied_revision", "removed_at", "lock_token", "lock_expires_at", "tries"]
        )
        _next_look(attempt.pk, now + _pause(attempt.task, leaving=claim.leaving, changed=changed))
        if rests:
            record_absence(attempt.pk, now=now)


def postponed(claim: Claim, error: GatewayError, *, now: datetime) -> None:
    """The cluster did not do it this time: come back later, at doubling intervals, and say so where it shows."""
    with transaction.atomic():
        attempt = _held(claim)
        if attempt is None:
            return
        tries = attempt.tries + 1
        Attempt.objects.filter(pk=attempt.pk).update(lock_token=None, lock_expires_at=None, tries=tries)
        hinted = error.retry_after if isinstance(error, Transient) else None
        _next_look(attempt.pk, now + timedelta(seconds=min(LONGEST_PAUSE, hinted or 2 ** min(tries, 6))))
        silent = isinstance(error, Transient | Forbidden) and not isinstance(error, Conflict)
        if not silent or tries < 2 or attempt.number != attempt.task.attempt:
            return
        if _never_arrived(attempt) and now - (attempt.admitted_at or now) >= START_PATIENCE:
            _take_back(attempt.task, claim.cluster, now=now)
        else:
            _say_unreachable(attempt.task, claim.cluster, error, now=now)


def blocked(claim: Claim, error: GatewayError, *, now: datetime) -> None:
    """Something stands in the way that time may remove; after MOST_BLOCKED_TRIES the attempt ends instead (F08)."""
    attempt = _held(claim)
    if attempt is not None and attempt.tries + 1 >= MOST_BLOCKED_TRIES:
        refused(claim, error, now=now)
    else:
        postponed(claim, error, now=now)


def refused(claim: Claim, error: GatewayError, *, now: datetime) -> None:
    """The cluster will never take this. A new attempt ends as failed, with the message, and gives everything back; a
    workload that stands already goes on as it was, since a refused change is no reason to end what serves."""
    with transaction.atomic():
        attempt = _held(claim)
        if attempt is None:
            return
        task = attempt.task
        Attempt.objects.filter(pk=attempt.pk).update(lock_token=None, lock_expires_at=None, tries=attempt.tries + 1)
        if attempt.number != task.attempt or claim.leaving or attempt.applied_at is not None:
            _next_look(attempt.pk, now + SETTLED_LOOK)
            _note_refusal(task, claim, error, now=now)
            return
        end(
            attempt,
            state=State.FAILED,
            reason=Reason.REJECTED,
            numbers={"message": str(error)},
            text=str(error),
            now=now,
            expected=set(State) - FINAL,
        )
        # What of it was created before the refusal goes at once; there is nothing to read in it.
        Attempt.objects.filter(pk=attempt.pk).update(next_try_at=None)


def _wanted(attempt: Attempt, cluster: Cluster, *, now: datetime) -> Wanted:
    task = attempt.task
    intent = Intent(task.intent)
    if intent is Intent.RUN and task.state == State.QUEUED:
        # Resumed but not admitted yet: what stands on the cluster stays suspended until its place is decided.
        intent = Intent.PAUSE
    remove = _is_to_go(attempt)
    manifests = () if remove or intent is Intent.STOP else _manifests(attempt, cluster, paused=intent is Intent.PAUSE)
    return Wanted(
        intent=intent,
        namespace=attempt.namespace,
        task_id=str(task.pk),
        attempt=attempt.number,
        manifests=manifests,
        priority_classes=clusters.priority_classes() if manifests else (),
        remove=remove,
    )


def _manifests(attempt: Attempt, cluster: Cluster, *, paused: bool) -> tuple[Manifest, ...]:
    task = attempt.task
    spec = specs.from_json(task.spec)
    given = ManifestInput(
        spec=spec,
        mark=selectors.mark_facts().get(task.mark),
        task_id=str(task.pk),
        attempt=attempt.number,
        object_name=attempt.object_name,
        namespace=attempt.namespace,
        scope=scope_label(project_slug=task.project.slug if task.project else None, user_pk=task.owner_id),
        revision=task.revision,
        pool=attempt.pool.name if attempt.pool else "",
        profile=_profile(cluster),
        planned_nodes=tuple(sorted(attempt.planned_nodes)),
        paused=paused,
        restart_count=task.restart_count,
    )
    return KINDS[KindName(task.kind)].manifests(given)


def _profile(cluster: Cluster) -> ClusterProfile:
    try:
        return read_profile(cluster.profile)
    except msgspec.ValidationError:
        return ClusterProfile()


def _namespace(attempt: Attempt, cluster: Cluster) -> str:
    task = attempt.task
    slug = task.project.slug if task.project else None
    return namespace_for(cluster.namespace_prefix, project_slug=slug, user_pk=task.owner_id)


def _is_to_go(attempt: Attempt) -> bool:
    """Whether all of the attempt leaves the cluster: superseded, deleted, stopped, cut short, or old (``_rests``)."""
    task = attempt.task
    return attempt.number != task.attempt or task.deleted_at is not None or attempt.finished_at is not None


def _rests(attempt: Attempt, *, now: datetime) -> bool:
    """Whether the attempt has ended by itself and its objects are still worth reading (domain.md §8, clean-up)."""
    task = attempt.task
    if attempt.finished_at is None or attempt.number != task.attempt or task.deleted_at is not None:
        return False
    by_itself = attempt.outcome != State.STOPPED and task.reason not in CUT_SHORT
    return by_itself and now < attempt.finished_at + RETENTION


def _held(claim: Claim) -> Attempt | None:
    return Attempt.objects.select_related("task").filter(pk=claim.attempt_pk, lock_token=claim.token).first()


def _next_look(attempt_pk: int, at: datetime) -> None:
    """Come back at ``at``, or at once where somebody rang while the token was held."""
    Attempt.objects.filter(pk=attempt_pk).update(
        next_try_at=Case(When(next_try_at=None, then=Value(None)), default=Value(at))
    )


def _pause(task: Task, *, leaving: bool, changed: bool) -> timedelta:
    if leaving:
        return LEAVING_LOOK
    return MOVING_LOOK if changed or task.state in MOVING else SETTLED_LOOK


def _say_unreachable(task: Task, cluster: Cluster, error: GatewayError, *, now: datetime) -> None:
    """The state stays what it was; only its reason says that the cluster does not answer (F15, F17)."""
    state = State(task.state)
    waits = (State.STARTING, State.STOPPING, State.PAUSING, State.UPDATING)
    if state not in waits or task.reason == Reason.CLUSTER_UNREACHABLE:
        return
    numbers = {"cluster": cluster.name, "message": str(error)[:500]}
    moves.move(task, expected=[state], to=state, now=now, reason=Reason.CLUSTER_UNREACHABLE, numbers=numbers)


def _never_arrived(attempt: Attempt) -> bool:
    """Whether the cluster never took anything of the attempt, as far as we were told, and it is still wanted there."""
    task = attempt.task
    starting = task.state == State.STARTING and task.intent == Intent.RUN and task.deleted_at is None
    return starting and attempt.applied_at is None and not attempt.workload_uid


def _take_back(task: Task, cluster: Cluster, *, now: datetime) -> None:
    """Queue the task for any cluster, in its old place (domain.md §8). Its next attempt has a fresh name,
    and should something of this one have arrived after all, it is removed when the cluster answers again."""
    queued_at = task.queued_at
    try:
        with transaction.atomic():
            begin_attempt(task, now=now, why="taken back")
            Task.objects.filter(pk=task.pk).update(queued_at=queued_at)
            moves.note(task, "TakenBack", now=now, numbers={"cluster": cluster.name}, warning=True)
    except Refused as refusal:
        # Its quota was lowered meanwhile: better to wait for the cluster than to lose the place altogether.
        logger.warning("a task was not taken back", task=str(task.pk), why=str(refusal))


def _note_refusal(task: Task, claim: Claim, error: GatewayError, *, now: datetime) -> None:
    """Once per revision, or the history fills with the same sentence (F32)."""
    known = task.events.filter(token=Reason.REJECTED, numbers__revision=claim.revision).exists()
    if not known:
        moves.note(
            task, Reason.REJECTED, now=now, numbers={"revision": claim.revision}, text=str(error)[:2000], warning=True
        )
        moves.touch(task)
