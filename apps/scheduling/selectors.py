"""The plant with what is taken of it, and the stored outcomes of admission; a fixed number of queries each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q

from apps.clusters.domain.inventory import NodeFacts
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.pools import PoolFacts
from apps.clusters.models import Cluster, Node, Pool
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.quotas import selectors as quotas
from apps.quotas.domain.ledger import Drift
from apps.scheduling.domain.needs import need_of
from apps.scheduling.domain.occupancy import Tenant, occupy
from apps.scheduling.domain.resources import Resources, resources_of
from apps.scheduling.domain.selection import read_taints
from apps.scheduling.domain.snapshot import ClusterView, RunningShare
from apps.scheduling.models import Admission
from apps.tasks import selectors as tasks
from apps.tasks.domain import spec as specs
from apps.tasks.domain.states import FINAL, ON_CLUSTER, State
from apps.tasks.kinds.base import InstanceState
from apps.tasks.models import Attempt, Instance, Task

OVER = frozenset({InstanceState.SUCCEEDED, InstanceState.FAILED, InstanceState.EVICTED, InstanceState.PREEMPTED})
"""Pods that take nothing any more (F03); one that is lost or terminating still may."""


@dataclass(frozen=True, slots=True)
class Plant:
    """All there is at one moment: nodes with their use, pools, clusters, marks, and who holds what of a pool."""

    nodes: tuple[NodeFacts, ...]
    pools: tuple[PoolFacts, ...]
    clusters: tuple[ClusterView, ...]
    marks: Mapping[str, MarkFacts]
    running: tuple[RunningShare, ...]


@dataclass(frozen=True, slots=True)
class _Tenancy:
    tenant: Tenant
    scope: str
    starting: bool


def scope_key(task: Task) -> str:
    """Who pays for the task, as a key: its Project, else its owner."""
    return f"p{task.project_id}" if task.project_id is not None else f"u{task.owner_id}"


def plant() -> Plant:
    """The plant as it stands; six queries."""
    marks = tasks.mark_facts()
    tenancies = _tenancies(marks)
    starting = Counter(each.tenant.cluster_id for each in tenancies if each.starting)
    return Plant(
        nodes=occupy(_nodes(), [each.tenant for each in tenancies]),
        pools=tuple(PoolFacts(*row) for row in Pool.objects.values_list("pk", "name", "project_id", "lend_idle")),
        clusters=tuple(_cluster(row, starting[row.pk]) for row in Cluster.objects.order_by("name")),
        marks=marks,
        running=tuple(
            RunningShare(
                each.scope,
                each.tenant.pool_id,
                each.tenant.need.mark,
                each.tenant.need.per_node * each.tenant.need.nodes,
            )
            for each in tenancies
            if each.tenant.expects
        ),
    )


def resources(*, visible: Collection[int] | None = None) -> Resources:
    """The resources page: what is free and what fits now in the ``visible`` pools (all, when None); seven queries."""
    present = plant()
    queued = Task.objects.filter(state=State.QUEUED, deleted_at=None).order_by().values_list("mark", flat=True)
    return resources_of(
        present.nodes,
        present.pools,
        present.clusters,
        present.marks,
        waiting=[mark or None for mark in queued],
        visible=visible,
    )


def node_use() -> dict[tuple[int, str], Bundle]:
    """What the platform's tasks take of each node, by cluster and node name."""
    return {(node.cluster_id, node.name): node.used for node in plant().nodes}


def _nodes() -> list[NodeFacts]:
    present = Node.objects.filter(gone_at=None).select_related("mark").order_by("cluster_id", "name")
    return [
        NodeFacts(
            cluster_id=row.cluster_id,
            name=row.name,
            pool_id=row.pool_id,
            mark=row.mark.mark if row.mark else None,
            capacity=Bundle(Millicores(row.cpu), MiB(row.memory), Cards(row.cards)),
            built_in=row.cards_capacity,
            labels=row.labels,
            taints=read_taints(row.taints or ()),
            ready=row.ready,
            cordoned=row.unschedulable,
        )
        for row in present
    ]


def _cluster(row: Cluster, starting: int) -> ClusterView:
    return ClusterView(
        id=row.pk,
        name=row.name,
        reachable=row.unreachable_since is None,
        enabled=row.enabled,
        capabilities=frozenset(row.capabilities),
        starting=starting,
    )


def _tenancies(marks: Mapping[str, MarkFacts]) -> list[_Tenancy]:
    """Every attempt that is or was just put on a cluster and may still take something there; two queries."""
    present = Instance.objects.filter(attempt=OuterRef("pk"), gone_at=None)
    attempts = list(
        Attempt.objects.filter(Q(finished_at=None) | Exists(present), admitted_at__isnull=False, removed_at=None)
        .select_related("task")
        .order_by("admitted_at", "pk")
    )
    seen = _seen([attempt.pk for attempt in attempts])
    return [_tenancy(attempt, marks, seen.get(attempt.pk, {})) for attempt in attempts]


def _seen(attempt_ids: Sequence[int]) -> dict[int, dict[tuple[str, str], int]]:
    """Pods by attempt, node and state: those present, and those that succeeded at any time."""
    pods = Instance.objects.filter(attempt__in=attempt_ids).filter(Q(gone_at=None) | Q(state=InstanceState.SUCCEEDED))
    counted = pods.order_by().values_list("attempt_id", "node", "state").annotate(Count("pk"))
    by_attempt: dict[int, dict[tuple[str, str], int]] = {}
    for attempt_id, node, state, count in counted:
        by_attempt.setdefault(attempt_id, {})[node, state] = count
    return by_attempt


def _tenancy(attempt: Attempt, marks: Mapping[str, MarkFacts], pods: Mapping[tuple[str, str], int]) -> _Tenancy:
    task = attempt.task
    seen: Counter[str] = Counter()
    for (node, state), count in pods.items():
        if node and state not in OVER:
            seen[node] += count
    present = attempt.number == task.attempt and attempt.finished_at is None
    tenant = Tenant(
        cluster_id=attempt.cluster_id or 0,
        pool_id=attempt.pool_id or 0,
        need=need_of(specs.from_json(task.spec), marks),
        planned={str(name): int(count) for name, count in attempt.planned_nodes.items()},
        seen=dict(seen),
        done=sum(count for (_node, state), count in pods.items() if state == InstanceState.SUCCEEDED),
        expects=present and task.state in ON_CLUSTER,
    )
    return _Tenancy(tenant, scope_key(task), present and task.state == State.STARTING)


def queued_attempts() -> list[Attempt]:
    """The present attempt of every task that waits for a place, with its task; one query."""
    waiting = Attempt.objects.filter(number=F("task__attempt"), task__state=State.QUEUED, task__deleted_at=None)
    return list(waiting.filter(task__intent="run").select_related("task").order_by("task__queued_at", "task_id"))


@dataclass(frozen=True, slots=True)
class Alarm:
    """Where the books and the tasks disagree: quotas whose sum is wrong, and tasks that hold but may not."""

    drift: tuple[Drift, ...] = ()
    holding: tuple[UUID, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.drift or self.holding)


def alarm() -> Alarm:
    """The books compared with themselves and with live tasks: false in a healthy installation (domain.md §6)."""
    holding = quotas.open_reservations().values("task_id")
    idle = [State.PAUSED, *sorted(FINAL)]
    wrong = Task.objects.filter(pk__in=holding, state__in=idle).order_by("pk").values_list("pk", flat=True)
    return Alarm(quotas.ledger_drift(), tuple(wrong))


def admissions(task_id: UUID) -> list[Admission]:
    """Where the task was placed and why there, the newest first, with each cluster's score card; two queries."""
    made = Admission.objects.filter(attempt__task_id=task_id).select_related("attempt", "cluster", "pool")
    return list(made.prefetch_related("placements__cluster"))
