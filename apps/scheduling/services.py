"""What would happen if this were submitted now: the same checks and the same decision, and nothing stored (rest.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from apps.accounts.models import User
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.profile import ClusterProfile, read_profile
from apps.clusters.gateway.port import Manifest
from apps.clusters.models import Cluster
from apps.kernel.errors import Refusal
from apps.kernel.names import object_name
from apps.organisations.models import Project
from apps.quotas import selectors as quota_selectors
from apps.quotas import services as quotas
from apps.quotas.domain.ledger import Shortage, Standing, shortage
from apps.quotas.models import Quota
from apps.scheduling.domain.cycle import Admit, decide
from apps.scheduling.domain.needs import need_of
from apps.scheduling.domain.placement import ScoreCard
from apps.scheduling.domain.snapshot import QueuedTask, Snapshot
from apps.scheduling.snapshot_reader import read_snapshot
from apps.tasks import access, selectors
from apps.tasks.domain.naming import namespace_for, scope_label
from apps.tasks.domain.spec import Priority, TaskSpec
from apps.tasks.domain.splitting import Share, booked, split
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Task
from apps.tasks.services import submission

PREVIEWED = "preview"
NO_TASK = "00000000-0000-0000-0000-000000000000"


class Verdict(StrEnum):
    STARTS_NOW = "starts_now"
    QUEUES = "queues"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """One resource of the scope before and after a submission (millicores, MiB, pieces)."""

    resource: str
    limit: int
    before: int
    asked: int

    @property
    def after(self) -> int:
        return self.before + self.asked

    @property
    def short_by(self) -> int:
        return max(0, self.after - self.limit)


@dataclass(frozen=True, slots=True)
class Preview:
    """``shares`` are per container of one node, in the spec's order; ``nodes`` how many such nodes.

    ``refusal`` is set exactly when the verdict is ``refused``; ``reason`` and ``numbers`` when it queues; ``cluster``
    and ``pool`` when it starts now. ``manifests`` are for that cluster, or for none in particular.
    """

    verdict: Verdict
    nodes: int
    shares: tuple[Share, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    reason: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    cluster: str = ""
    pool: str = ""
    cards: tuple[ScoreCard, ...] = ()
    quota: tuple[QuotaChange, ...] = ()
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, by whom, and what it would book."""

    spec: TaskSpec
    by: User
    project: Project | None
    marks: Mapping[str, MarkFacts]
    amounts: Mapping[str, int] = field(default_factory=dict)

    @property
    def mark(self) -> MarkFacts | None:
        return self.marks.get(self.spec.resources.mark or "")


def preview(spec: TaskSpec, *, by: User, now: datetime) -> Preview:
    """The split, the objects, the verdict and the quota of a submission by ``by`` now; a fixed number of queries.

    Raises Http404 or PermissionDenied like the submission itself; every other refusal is part of the answer.
    """
    asked = _Asked(spec, by, access.project_for_submission(by, spec.project), selectors.mark_facts())
    bare = Preview(Verdict.REFUSED, spec.resources.nodes)
    fault = submission.fault_in(spec, asked.marks)
    if fault is not None:
        return replace(bare, refusal=fault)
    shares = split(spec.containers, spec.resources, asked.mark)
    if isinstance(shares, Refusal):
        return replace(bare, refusal=shares)
    if spec.priority is Priority.NORMAL:
        asked = replace(asked, amounts=booked(spec, asked.mark))
    standings = quota_selectors.standings(asked.project, by)
    changes = tuple(_change(resource, amount, standings) for resource, amount in sorted(asked.amounts.items()))
    short = shortage(asked.amounts, standings)
    bare = replace(bare, shares=shares, quota=changes)
    refusal = _name_taken(asked) or _quota_lacks(asked, short)
    if refusal is not None:
        return replace(bare, refusal=refusal, manifests=_manifests(asked))
    return _decided(bare, asked, _candidate(asked, now, holds_quota=short is None), now)


def _candidate(asked: _Asked, now: datetime, *, holds_quota: bool) -> QueuedTask:
    project = asked.project
    return QueuedTask(
        id=PREVIEWED,
        submitted=now,
        scope=f"p{project.pk}" if project is not None else f"u{asked.by.pk}",
        priority=asked.spec.priority,
        project_id=project.pk if project is not None else None,
        need=need_of(asked.spec, asked.marks),
        holds_quota=holds_quota and asked.spec.priority is Priority.NORMAL,
        booked=asked.amounts,
    )


def _decided(bare: Preview, asked: _Asked, candidate: QueuedTask, now: datetime) -> Preview:
    """The cycle's decision with the candidate in the queue; what it would not hold in the end is no quota change."""
    present = read_snapshot()
    own = {(candidate.scope, each.resource): Standing(each.limit, each.before) for each in bare.quota}
    queued = (*present.queued, candidate)
    decisions = decide(replace(present, queued=queued, quotas={**present.quotas, **own}), now)
    for admit in decisions.admissions:
        if admit.task is candidate:
            return _starts(bare, asked, admit, present)
    wait = next(each for each in decisions.waiting if each.task is candidate)
    return replace(
        bare,
        verdict=Verdict.QUEUES,
        cards=wait.cards,
        reason=wait.reason.value,
        numbers=wait.numbers,
        manifests=_manifests(asked),
        quota=bare.quota if candidate.holds_quota else (),
    )


def _starts(bare: Preview, asked: _Asked, admit: Admit, present: Snapshot) -> Preview:
    cluster = Cluster.objects.get(pk=admit.cluster_id)
    pool = next(pool.name for pool in present.pools if pool.id == admit.pool_id)
    return replace(
        bare,
        verdict=Verdict.STARTS_NOW,
        cards=admit.cards,
        cluster=cluster.name,
        pool=pool,
        manifests=_manifests(asked, cluster, pool, tuple(sorted(admit.plan))),
        quota=bare.quota if admit.keeps_quota_hold else (),
    )


def _change(resource: str, asked: int, standings: Mapping[str, Standing]) -> QuotaChange:
    standing = standings.get(resource, Standing())
    return QuotaChange(resource, standing.limit, standing.used, asked)


def _quota_lacks(asked: _Asked, short: Shortage | None) -> Refusal | None:
    if short is None or submission.own_pool_could_hold(asked.project, asked.spec, asked.mark):
        return None
    rows = Quota.objects.filter(quota_selectors.scope_filter(asked.project, asked.by), resource=short.resource)
    return quotas.quota_refusal(short, rows.first())


def _name_taken(asked: _Asked) -> Refusal | None:
    name = asked.spec.display_name
    if not selectors.live_namesakes(Task(project=asked.project, owner=asked.by, display_name=name)).exists():
        return None
    return submission.duplicate_name(name).refusal


def _manifests(
    asked: _Asked, cluster: Cluster | None = None, pool: str = "", planned: tuple[str, ...] = ()
) -> tuple[Manifest, ...]:
    """The objects as they would be created; the names' random part and the task's id are not known before."""
    slug = asked.project.slug if asked.project is not None else None
    prefix = cluster.namespace_prefix if cluster is not None else "platform"
    return KINDS[asked.spec.kind].manifests(
        ManifestInput(
            spec=asked.spec,
            mark=asked.mark,
            task_id=NO_TASK,
            attempt=1,
            object_name=object_name(asked.spec.display_name, bytes(5)),
            namespace=namespace_for(prefix, project_slug=slug, user_pk=asked.by.pk),
            scope=scope_label(project_slug=slug, user_pk=asked.by.pk),
            pool=pool,
            profile=_profile(cluster),
            planned_nodes=planned,
        )
    )


def _profile(cluster: Cluster | None) -> ClusterProfile:
    if cluster is None:
        return ClusterProfile()
    try:
        return read_profile(cluster.profile)
    except msgspec.ValidationError:
        return ClusterProfile()
