"""Taking and giving back: one transaction each, all amounts or none, every change a row in the ledger (domain.md §6).

Order inside a transaction, so that nobody waits in a circle: the task, its releases, then quota rows by key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters.models import Pool
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.quantities import format_cpu, format_memory
from apps.kernel.text import translated
from apps.organisations.models import Project
from apps.quotas import selectors
from apps.quotas.domain.ledger import Shortage, Standing, limit_fault, resource_fault, shortage
from apps.quotas.models import Quota, Release, Reservation

Part = Literal["quota", "pool"]
RESIZED = "resized"
"""Marks a release whose task goes on at another size: so a Deployment scaled to 0 is booked again when it grows."""
MOST_HOLDERS = 50
TASK_LOCKS = 6
"""The class of advisory locks that let one task's bookings change one after the other, never twice at once."""

RELEASE = """
INSERT INTO quotas_release (reservation_id, at, why)
SELECT held.id, %s, %s FROM quotas_reservation held
WHERE held.id = ANY(%s) ORDER BY held.id
ON CONFLICT (reservation_id) DO NOTHING RETURNING reservation_id
"""


def hold(
    *, project: Project | None, user: User, amounts: Mapping[str, int], task_id: UUID, attempt: int, now: datetime
) -> Refusal | None:
    """Hold the amounts of the scope's quota, all or nothing; an attempt that holds already is brought to them.

    The refusal (quota_exceeded) tells resource, asked, used, limit and the scope's tasks that hold it.
    """
    with transaction.atomic():
        _one_at_a_time(task_id)
        _begin_with_defaults(project, user)
        mine = _open(task_id, attempt, "quota")
        return _bring_to(mine, project=project, user=user, amounts=amounts, task_id=task_id, attempt=attempt, now=now)


def adjust(
    *,
    project: Project | None,
    user: User,
    amounts: Mapping[str, int],
    task_id: UUID,
    attempt: int,
    now: datetime,
    pool_amounts: Mapping[str, int] | None = None,
) -> Refusal | None:
    """Let what the attempt holds follow its new size; of quota or pool it holds nothing of, it takes nothing.

    Growing may be refused (quota_exceeded), shrinking never. ``pool_amounts`` where the pool books more than the quota.
    """
    with transaction.atomic():
        _one_at_a_time(task_id)
        if _holds(task_id, attempt, "quota"):
            mine = _open(task_id, attempt, "quota")
            refusal = _bring_to(
                mine, project=project, user=user, amounts=amounts, task_id=task_id, attempt=attempt, now=now
            )
            if refusal is not None:
                return refusal
        pool = _pool_of(task_id, attempt)
        if pool is not None:
            hold_pool(pool, amounts if pool_amounts is None else pool_amounts, task_id, attempt, now)
    return None


@transaction.atomic
def hold_pool(pool: Pool, amounts: Mapping[str, int], task_id: UUID, attempt: int, now: datetime) -> None:
    """Book the place that an admission found; whether it fits was the admission's question."""
    _one_at_a_time(task_id)
    mine = _open(task_id, attempt, "pool")
    if {entry.resource: entry.amount for entry in mine} == {name: amount for name, amount in amounts.items() if amount}:
        return
    _release(mine, why=RESIZED, now=now)
    _write(task_id, attempt, amounts, now=now, pool=pool)


@transaction.atomic
def release(task_id: UUID, *, why: str, now: datetime, attempt: int | None = None, only: Part | None = None) -> int:
    """Give back what the task holds (of one attempt, of one side); how many bookings ended. Twice is harmless."""
    _one_at_a_time(task_id)
    return len(_release(_open(task_id, attempt, only), why=why, now=now))


@transaction.atomic
def set_limit(quota: Quota, limit: int, *, by: User, now: datetime, source: str = "") -> Quota:
    """Change a limit; below what is in use stops nobody (overhang). Raises Refused for what is no limit."""
    fault = limit_fault(limit)
    if fault is not None:
        raise refuse(Code.INVALID, _("This limit cannot be set."), fields={"limit": [translated(fault, _)]})
    before = Quota.objects.select_for_update().get(pk=quota.pk).limit
    if before != limit:
        Quota.objects.filter(pk=quota.pk).update(limit=limit)
        audit.record(
            "quota.limit_set", on=quota, by=by, now=now, before={"limit": before}, after={"limit": limit}, source=source
        )
    quota.refresh_from_db()
    return quota


@transaction.atomic
def add_quota(
    *,
    resource: str,
    limit: int,
    by: User,
    now: datetime,
    project: Project | None = None,
    user: User | None = None,
    source: str = "",
) -> Quota:
    """Give a scope a limit for a resource it has none of; raises Refused (invalid, duplicate_name)."""
    faults = {"resource": resource_fault(resource), "limit": limit_fault(limit)}
    fields = {path: [translated(fault, _)] for path, fault in faults.items() if fault is not None}
    if (project is None) == (user is None):
        fields["project"] = [_("either a project or a person")]
    if fields:
        raise refuse(Code.INVALID, _("This quota cannot be set."), fields=fields)
    try:
        with transaction.atomic():
            quota = Quota.objects.create(project=project, user=user, resource=resource, limit=limit)
    except IntegrityError:
        message = _("this scope has a limit for %(resource)s already") % {"resource": resource}
        raise refuse(Code.DUPLICATE_NAME, message, fields={"resource": [message]}) from None
    audit.record("quota.added", on=quota, by=by, now=now, after={"resource": resource, "limit": limit}, source=source)
    return quota


def default_quotas_for(*, project: Project | None = None, user: User | None = None) -> None:
    """Give a new scope the platform's default quota; rows that are there stay as they are."""
    Quota.objects.bulk_create(
        (
            Quota(project=project, user=user, resource=resource, limit=limit)
            for resource, limit in selectors.default_limits().items()
        ),
        ignore_conflicts=True,
    )


def _one_at_a_time(task_id: UUID) -> None:
    """Wait for whoever books for this task now; what is read afterwards is the present truth."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [TASK_LOCKS, task_id.int % 2**31])


def _begin_with_defaults(project: Project | None, user: User) -> None:
    """A scope that never had a quota row is new (domain.md §6): its first booking meets the default quota."""
    if not Quota.objects.filter(selectors.scope_filter(project, user)).exists():
        default_quotas_for(project=project, user=None if project else user)


def _bring_to(
    mine: Sequence[Reservation],
    *,
    project: Project | None,
    user: User,
    amounts: Mapping[str, int],
    task_id: UUID,
    attempt: int,
    now: datetime,
) -> Refusal | None:
    held = {entry.resource: entry.amount for entry in mine}
    wanted = {resource: amount for resource, amount in amounts.items() if amount > 0}
    if held == wanted:
        return None
    try:
        with transaction.atomic():
            _release(mine, why=RESIZED, now=now)
            quotas = _locked(project, user, wanted)
            _refuse_shortage(quotas, wanted, held)
            _take(quotas, wanted)
            _write(task_id, attempt, wanted, now=now, quotas=quotas)
    except Refused as refused:
        return refused.refusal
    return None


def _locked(project: Project | None, user: User, wanted: Mapping[str, int]) -> dict[str, Quota]:
    rows = Quota.objects.select_for_update().filter(selectors.scope_filter(project, user), resource__in=list(wanted))
    return {row.resource: row for row in rows.order_by("pk")}


def _refuse_shortage(quotas: Mapping[str, Quota], wanted: Mapping[str, int], held: Mapping[str, int]) -> None:
    """What the attempt held just before counts as its own: only growth needs room."""
    more = {resource: amount - held.get(resource, 0) for resource, amount in wanted.items()}
    standings = {resource: Standing(row.limit, row.held + held.get(resource, 0)) for resource, row in quotas.items()}
    short = shortage(more, standings)
    if short is not None:
        raise Refused(quota_refusal(short, quotas.get(short.resource)))


def _take(quotas: Mapping[str, Quota], wanted: Mapping[str, int]) -> None:
    for row in sorted(quotas.values(), key=lambda row: row.pk):
        Quota.objects.filter(pk=row.pk).update(held=F("held") + wanted[row.resource])


def _write(
    task_id: UUID,
    attempt: int,
    amounts: Mapping[str, int],
    *,
    now: datetime,
    quotas: Mapping[str, Quota] | None = None,
    pool: Pool | None = None,
) -> None:
    Reservation.objects.bulk_create(
        Reservation(
            quota=quotas[resource] if quotas is not None else None,
            pool=pool,
            task_id=task_id,
            attempt=attempt,
            resource=resource,
            amount=amount,
            at=now,
        )
        for resource, amount in sorted(amounts.items())
        if amount > 0
    )


def _open(task_id: UUID, attempt: int | None, part: Part | None) -> list[Reservation]:
    held = selectors.open_reservations().filter(task_id=task_id)
    if attempt is not None:
        held = held.filter(attempt=attempt)
    if part is not None:
        held = held.filter(**{f"{part}__isnull": False})
    return list(held.order_by("id"))


def _release(entries: Sequence[Reservation], *, why: str, now: datetime) -> list[Reservation]:
    """End the bookings that nobody else ended meanwhile, and lower each quota's sum by exactly those."""
    if not entries:
        return []
    with connection.cursor() as cursor:
        cursor.execute(RELEASE, [now, why[:40], [entry.pk for entry in entries]])
        ended_keys = {key for (key,) in cursor.fetchall()}
    ended = [entry for entry in entries if entry.pk in ended_keys]
    back: dict[int, int] = {}
    for entry in ended:
        if entry.quota_id is not None:
            back[entry.quota_id] = back.get(entry.quota_id, 0) + entry.amount
    for quota_id in sorted(back):
        Quota.objects.filter(pk=quota_id).update(held=F("held") - back[quota_id])
    return ended


def _holds(task_id: UUID, attempt: int, part: Part) -> bool:
    """Whether the attempt holds that side, be it at size 0 (scaled to nothing, not paused or ended)."""
    return _open(task_id, attempt, part) != [] or _resized(task_id, attempt, part) is not None


def _resized(task_id: UUID, attempt: int, part: Part) -> Release | None:
    last = (
        Release.objects.filter(
            reservation__task_id=task_id, reservation__attempt=attempt, **{f"reservation__{part}__isnull": False}
        )
        .select_related("reservation__pool")
        .order_by("-id")
        .first()
    )
    return last if last is not None and last.why == RESIZED else None


def _pool_of(task_id: UUID, attempt: int) -> Pool | None:
    entry = selectors.open_reservations().filter(task_id=task_id, attempt=attempt, pool__isnull=False).first()
    if entry is not None:
        return entry.pool
    emptied = _resized(task_id, attempt, "pool")
    return emptied.reservation.pool if emptied is not None else None


def quota_refusal(short: Shortage, quota: Quota | None) -> Refusal:
    """The refusal with its numbers and the scope's own tasks that hold the resource, the oldest first."""
    holders: list[UUID] = []
    if quota is not None:
        held = selectors.open_reservations().filter(quota=quota).order_by("id").values_list("task_id", flat=True)
        holders = list(dict.fromkeys(held))
    words = {name: amount_text(short.resource, getattr(short, name)) for name in ("asked", "used", "limit")}
    detail = _("Not enough quota of %(resource)s: %(asked)s asked, %(used)s of %(limit)s in use.")
    numbers = {
        "resource": short.resource,
        "asked": short.asked,
        "used": short.used,
        "limit": short.limit,
        "holders": [str(holder) for holder in holders[:MOST_HOLDERS]],
        "holder_count": len(holders),
    }
    return Refusal(Code.QUOTA_EXCEEDED, detail % {"resource": short.resource, **words}, {}, numbers)


def amount_text(resource: str, amount: int) -> str:
    """An amount as people write it: cores, MiB or GiB, pieces."""
    write = {"cpu": format_cpu, "memory": format_memory}.get(resource, str)
    return write(amount)
