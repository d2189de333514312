"""Tasks as people read them, in a fixed number of queries whatever their count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from apps.clusters import selectors as clusters
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.models import Node
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.organisations.models import Project
from apps.tasks.domain.checks import LargestNodes, undominated
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.splitting import per_node
from apps.tasks.domain.states import FINAL, State
from apps.tasks.models import Attempt, Event, Instance, Revision, Task


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What a reader narrows a list by; empty means everything (rest.md, GET /tasks)."""

    state: Sequence[str] = ()
    kind: Sequence[str] = ()
    project: Sequence[str] = ()
    owner: Sequence[str] = ()
    priority: Sequence[str] = ()
    mark: Sequence[str] = ()
    cluster: Sequence[str] = ()
    q: str = ""
    personal: bool = False
    created_after: datetime | None = None
    created_before: datetime | None = None


def filtered(tasks: QuerySet[Task], wanted: TaskFilter) -> QuerySet[Task]:
    """``tasks`` narrowed by every filter that is set."""
    lists = {
        "state__in": wanted.state,
        "kind__in": wanted.kind,
        "project__slug__in": wanted.project,
        "owner__username__in": wanted.owner,
        "priority__in": wanted.priority,
        "mark__in": wanted.mark,
    }
    tasks = tasks.filter(**{lookup: list(values) for lookup, values in lists.items() if values})
    if wanted.cluster:
        present = Attempt.objects.filter(task=OuterRef("pk"), number=OuterRef("attempt"))
        tasks = tasks.filter(Exists(present.filter(cluster__name__in=list(wanted.cluster))))
    if wanted.personal:
        tasks = tasks.filter(project=None)
    if wanted.q:
        tasks = tasks.filter(Q(display_name__icontains=wanted.q) | Q(object_name__icontains=wanted.q))
    if wanted.created_after:
        tasks = tasks.filter(created_at__gte=wanted.created_after)
    if wanted.created_before:
        tasks = tasks.filter(created_at__lt=wanted.created_before)
    return tasks


def with_place(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Each task with ``cluster_name`` and ``pool_name`` of its present attempt, or None."""
    present = Attempt.objects.filter(task=OuterRef("pk"), number=OuterRef("attempt"))
    return tasks.annotate(
        cluster_name=Subquery(present.values("cluster__name")[:1]),
        pool_name=Subquery(present.values("pool__name")[:1]),
    )


def state_counts(tasks: QuerySet[Task]) -> dict[State, int]:
    """How many of ``tasks`` stand in each state; every state is there."""
    counted = dict(tasks.order_by().values_list("state").annotate(count=Count("pk")))
    return {state: counted.get(state.value, 0) for state in State}


def present_attempt(task: Task) -> Attempt | None:
    """The attempt that is the task's life now, with its cluster and pool."""
    return task.attempts.select_related("cluster", "pool").filter(number=task.attempt).first()


def attempts(task: Task) -> QuerySet[Attempt]:
    return task.attempts.select_related("cluster", "pool").order_by("-number")


def instances(task: Task, *, attempt: int | None = None) -> QuerySet[Instance]:
    """The pods of one attempt (the present one), those still there first."""
    number = task.attempt if attempt is None else attempt
    chosen = Instance.objects.filter(attempt__task=task, attempt__number=number)
    return chosen.defer("observed").order_by("-gone_at", "first_seen_at", "name")


def events(task: Task) -> QuerySet[Event]:
    """What happened, the newest first."""
    return task.events.select_related("actor").order_by("-at", "-id")


def revisions(task: Task) -> QuerySet[Revision]:
    return task.revisions.select_related("author").prefetch_related("containers").order_by("-number")


def revision(task: Task, number: int) -> Revision | None:
    """The task's revision of that number, if there is one."""
    return task.revisions.filter(number=number).first()


def placed(task: Task) -> Task:
    """The task with ``cluster_name`` and ``pool_name`` as ``with_place`` gives them."""
    present = present_attempt(task)
    task.cluster_name = present.cluster.name if present and present.cluster else None  # type: ignore[attr-defined]  # as annotated by with_place
    task.pool_name = present.pool.name if present and present.pool else None  # type: ignore[attr-defined]  # as above
    return task


def mark_facts() -> dict[str, MarkFacts]:
    """Every kind of card as a value, by its mark; one query."""
    return {facts.mark: facts for facts in clusters.mark_facts()}


def largest_nodes() -> LargestNodes:
    """What single nodes could hold when empty; one query. Nodes that are gone or in no pool count for nothing."""
    usable = Node.objects.filter(gone_at=None, pool__isnull=False).order_by()
    rows = usable.values_list("mark__mark", "cpu", "memory", "cards").distinct()
    cpu_nodes: list[Bundle] = []
    by_mark: dict[str, list[Bundle]] = {}
    for mark, cpu, memory, cards in rows:
        room = Bundle(Millicores(cpu), MiB(memory), Cards(cards))
        (by_mark.setdefault(mark, []) if mark else cpu_nodes).append(room)
    return LargestNodes(
        cpu_nodes=undominated(tuple(cpu_nodes)),
        cards={mark: max(room.cards for room in rooms) for mark, rooms in by_mark.items()},
        all_nodes={mark: undominated(tuple(rooms)) for mark, rooms in by_mark.items()},
    )


def live_namesakes(task: Task) -> QuerySet[Task]:
    """Other live tasks of the same scope with the same display name."""
    scope = Q(project=task.project) if task.project_id else Q(project=None, owner=task.owner)
    finished = [state.value for state in FINAL]
    named = Task.objects.filter(scope, display_name=task.display_name, deleted_at=None)
    return named.exclude(pk=task.pk).exclude(state__in=finished)


def pool_capacity_covers(project: Project, spec: TaskSpec, mark: MarkFacts | None) -> bool:
    """Whether the Project's own pools could hold the task on one cluster if they were empty (domain.md §6)."""
    need = per_node(spec, mark)
    rooms: dict[tuple[int, int], int] = {}
    nodes = Node.objects.filter(pool__project=project, gone_at=None, mark__mark=mark.mark if mark else None)
    for node in nodes.values("pool_id", "cluster_id", "cpu", "memory", "cards"):
        room = Bundle(Millicores(node["cpu"]), MiB(node["memory"]), Cards(node["cards"] if mark else 0))
        place = (node["pool_id"], node["cluster_id"])
        rooms[place] = rooms.get(place, 0) + room.times_covering(need)
    return any(count >= max(1, spec.resources.nodes) for count in rooms.values())
