"""What pages across apps show: the reader's tasks by urgency, and the plant as pictures of nodes × cards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from apps.accounts.models import User
from apps.clusters.domain.inventory import CardCount, LargestRequest, NodeFacts, cards_of, count_cards, largest_request
from apps.clusters.domain.marks import MarkFacts
from apps.kernel.resources import Bundle
from apps.scheduling.selectors import Plant
from apps.tasks import access, selectors
from apps.tasks.domain.states import State
from apps.tasks.models import Task

MOST = 8
WRONG = (State.FAILED, State.DEGRADED)
WAITING = (State.QUEUED, State.STARTING, State.PAUSING, State.STOPPING)
AT_WORK = (State.RUNNING, State.UPDATING)
DONE = (State.SUCCEEDED, State.STOPPED, State.FAILED)


@dataclass(frozen=True, slots=True)
class TasksAtAGlance:
    """The reader's tasks in the order of urgency, a few of each."""

    wrong: Sequence[Task]
    waiting: Sequence[Task]
    at_work: Sequence[Task]
    done: Sequence[Task]
    any_at_all: bool


def at_a_glance(user: User, narrowed: selectors.TaskFilter) -> TasksAtAGlance:
    """A fixed number of queries, whatever the number of tasks."""
    visible = selectors.with_place(selectors.filtered(access.visible_tasks(user), narrowed))

    def some(states: Collection[State], *order: str) -> list[Task]:
        return list(visible.filter(state__in=[state.value for state in states]).order_by(*order)[:MOST])

    done = some(DONE, "-finished_at")
    wrong = [*some((State.DEGRADED,), "-created_at"), *(task for task in done if task.state == State.FAILED)]
    waiting, at_work = some(WAITING, "queued_at"), some(AT_WORK, "-started_at")
    return TasksAtAGlance(wrong, waiting, at_work, done, bool(done or waiting or at_work or wrong))


@dataclass(frozen=True, slots=True)
class Square:
    """One card of a picture: free, used or faulty."""

    look: str


@dataclass(frozen=True, slots=True)
class NodePicture:
    name: str
    facts: NodeFacts
    squares: Sequence[Square]
    cards: CardCount


@dataclass(frozen=True, slots=True)
class PlaceOfMark:
    """A kind of card in one cluster and pool."""

    cluster: str
    reachable: bool
    pool: str
    cards: CardCount
    nodes: Sequence[NodePicture]


@dataclass(frozen=True, slots=True)
class MarkPicture:
    mark: MarkFacts
    cards: CardCount
    largest: LargestRequest
    places: Sequence[PlaceOfMark]


def pictures(plant: Plant, pools: Collection[int]) -> list[MarkPicture]:
    """Every kind of card as somebody sees it who may know of these pools only."""
    nodes = [node for node in plant.nodes if node.pool_id in pools]
    return [_picture(mark, plant, [node for node in nodes if node.mark == mark.mark]) for mark in _by_name(plant)]


def cpu_nodes(plant: Plant, pools: Collection[int]) -> list[tuple[str, NodeFacts, Bundle]]:
    """The nodes without cards, each with its cluster's name and what is free there."""
    names = {view.id: view.name for view in plant.clusters}
    plain = [node for node in plant.nodes if node.mark is None and node.pool_id in pools]
    return [(names[node.cluster_id], node, (node.capacity - node.used).clamped()) for node in plain]


def node_picture(node: NodeFacts) -> NodePicture:
    """One node with a square for each card that is built in."""
    cards = cards_of(node)
    looks = ["used"] * cards.used + ["free"] * cards.free + ["faulty"] * cards.faulty
    return NodePicture(node.name, node, [Square(look) for look in looks], cards)


def _by_name(plant: Plant) -> list[MarkFacts]:
    return sorted(plant.marks.values(), key=lambda mark: mark.mark)


def _picture(mark: MarkFacts, plant: Plant, nodes: Sequence[NodeFacts]) -> MarkPicture:
    pools = {pool.id: pool.name for pool in plant.pools}
    places = []
    for view in plant.clusters:
        here = [node for node in nodes if node.cluster_id == view.id]
        for pool in sorted({node.pool_id for node in here if node.pool_id is not None}, key=lambda pk: pools[pk]):
            there = [node for node in here if node.pool_id == pool]
            drawn = [node_picture(node) for node in there]
            places.append(PlaceOfMark(view.name, view.reachable, pools[pool], count_cards(there), drawn))
    return MarkPicture(mark, count_cards(nodes), largest_request(nodes, mark.share(1)), places)
