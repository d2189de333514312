"""Quotas as people read them, in a fixed number of queries whatever their count."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, Sum

from apps.accounts.models import User
from apps.organisations.models import Project
from apps.quotas.domain.ledger import Drift, Standing, drift, parse_defaults
from apps.quotas.models import Quota, Reservation


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """One quota of rest.md: millicores, MiB or pieces; ``scope_kind`` is ``project`` or ``user``.

    ``held_by_pending`` is the part of ``used`` that waits: held by attempts which no pool has taken in yet.
    """

    id: int
    scope_kind: str
    scope: str
    resource: str
    limit: int
    used: int
    held_by_pending: int
    holders: tuple[UUID, ...]

    @property
    def overhang(self) -> int:
        return Standing(self.limit, self.used).overhang

    @property
    def free(self) -> int:
        return Standing(self.limit, self.used).free


def scope_filter(project: Project | None, user: User) -> Q:
    """The quota rows of a scope: the Project's, or the person's own where there is none."""
    return Q(project=project) if project is not None else Q(user=user)


def open_reservations() -> QuerySet[Reservation]:
    """Reservations that nothing has ended yet."""
    return Reservation.objects.filter(release=None)


def rows(quotas: QuerySet[Quota]) -> list[QuotaRow]:
    """The quotas with their holders; two queries."""
    found = list(quotas.select_related("project", "user"))
    placed = open_reservations().filter(task_id=OuterRef("task_id"), attempt=OuterRef("attempt"), pool__isnull=False)
    entries = open_reservations().filter(quota__in=[quota.pk for quota in found]).order_by("id")
    by_quota: dict[int, list[tuple[UUID, int, bool]]] = {quota.pk: [] for quota in found}
    columns = entries.annotate(placed=Exists(placed)).values_list("quota_id", "task_id", "amount", "placed")
    for quota_id, task_id, amount, is_placed in columns:
        if quota_id is not None:
            by_quota[quota_id].append((task_id, amount, is_placed))
    return [_row(quota, by_quota[quota.pk]) for quota in found]


def with_pending(quotas: QuerySet[Quota]) -> QuerySet[Quota]:
    """Each quota with ``pending``: the part of it that attempts hold which no pool has taken in yet, or None."""
    placed = open_reservations().filter(task_id=OuterRef("task_id"), attempt=OuterRef("attempt"), pool__isnull=False)
    waiting = open_reservations().filter(~Exists(placed), quota=OuterRef("pk")).order_by().values("quota")
    return quotas.annotate(pending=Subquery(waiting.annotate(sum=Sum("amount")).values("sum")))


def _row(quota: Quota, entries: Sequence[tuple[UUID, int, bool]]) -> QuotaRow:
    owner = ("project", quota.project.slug) if quota.project else ("user", quota.user.username if quota.user else "")
    return QuotaRow(
        id=quota.pk,
        scope_kind=owner[0],
        scope=owner[1],
        resource=quota.resource,
        limit=quota.limit,
        used=quota.held,
        held_by_pending=sum(amount for _task, amount, placed in entries if not placed),
        holders=tuple(dict.fromkeys(task for task, _amount, _placed in entries)),
    )


def in_order_of(quotas: Sequence[Quota]) -> list[QuotaRow]:
    """``rows`` of quotas that are read already, in the same order; two queries."""
    found = {row.id: row for row in rows(Quota.objects.filter(pk__in=[quota.pk for quota in quotas]))}
    return [found[quota.pk] for quota in quotas]


def of_scopes(quotas: QuerySet[Quota], *, projects: Collection[str], people: Collection[str]) -> QuerySet[Quota]:
    """Of the quotas those of the named Projects and people; of everybody where nobody is named."""
    if not projects and not people:
        return quotas
    return quotas.filter(Q(project__slug__in=list(projects)) | Q(user__username__in=list(people)))


def standings(project: Project | None, user: User) -> dict[str, Standing]:
    """Every resource that the scope has a quota of; a new scope stands at the platform's default quota. One query."""
    found = Quota.objects.filter(scope_filter(project, user)).values_list("resource", "limit", "held")
    present = {resource: Standing(limit, held) for resource, limit, held in found}
    return present or {resource: Standing(limit) for resource, limit in default_limits().items()}


def default_limits() -> dict[str, int]:
    """What a new scope may hold (PLATFORM_DEFAULT_QUOTA), per resource."""
    return parse_defaults(getattr(settings, "DEFAULT_QUOTA", ""))


def quota_holders(task_ids: Collection[UUID]) -> set[tuple[UUID, int]]:
    """Which of these tasks' attempts hold their scope's quota now, as (task, attempt); one query."""
    held = open_reservations().filter(task_id__in=task_ids, quota__isnull=False)
    return set(held.values_list("task_id", "attempt").distinct())


def pool_use() -> dict[tuple[int, str], int]:
    """What is held of each pool, per (pool, resource); one query."""
    sums = open_reservations().filter(pool__isnull=False).values_list("pool_id", "resource").annotate(Sum("amount"))
    return {(pool_id, resource): amount for pool_id, resource, amount in sums if pool_id is not None}


def held_by(task_id: UUID) -> list[Reservation]:
    """What one task holds now, of its scope's quota and of a pool."""
    return list(open_reservations().filter(task_id=task_id).select_related("quota", "pool").order_by("id"))


def ledger_drift() -> tuple[Drift, ...]:
    """Quotas whose kept sum is not what the ledger says; nothing in a healthy installation. Two queries."""
    held = dict(Quota.objects.values_list("pk", "held"))
    sums = open_reservations().filter(quota__isnull=False).values_list("quota_id").annotate(Sum("amount"))
    ledger: Mapping[int, int] = {quota: amount for quota, amount in sums if quota is not None}
    return drift(held, ledger)
