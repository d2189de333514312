"""What exists, what is usable, what is free: counted once, from nodes as values (F03)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.kernel.resources import NOTHING, Bundle, Cards

FINISHED_PHASES = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's mark of refusal; only NoSchedule and NoExecute keep pods away."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A machine as last seen: ``capacity`` is what it offers now (allocatable), ``built_in`` the cards in the box.

    ``used`` is what the platform's own pods take or are about to take. ``mark`` None is a CPU node.
    """

    cluster_id: int
    name: str
    pool_id: int | None = None
    mark: str | None = None
    capacity: Bundle = NOTHING
    used: Bundle = NOTHING
    built_in: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    cordoned: bool = False

    @property
    def takes_tasks(self) -> bool:
        return self.ready and not self.cordoned

    @property
    def free(self) -> Bundle:
        """What a new pod may take: never negative, nothing on a node that is cordoned or not ready."""
        return (self.capacity - self.used).clamped() if self.takes_tasks else NOTHING


@dataclass(frozen=True, slots=True)
class CardCount:
    """Cards of one mark, in pieces: built in = usable + faulty; a lost node's cards are faulty till it is back."""

    built_in: int = 0
    usable: int = 0
    faulty: int = 0
    used: int = 0
    free: int = 0

    def __add__(self, other: CardCount) -> CardCount:
        return CardCount(
            self.built_in + other.built_in,
            self.usable + other.usable,
            self.faulty + other.faulty,
            self.used + other.used,
            self.free + other.free,
        )


def cards_of(node: NodeFacts) -> CardCount:
    """One node's cards; more usable than built in never makes a negative fault."""
    usable = node.capacity.cards if node.ready else 0
    built_in = max(node.built_in, node.capacity.cards)
    return CardCount(built_in, usable, built_in - usable, node.used.cards, node.free.cards)


def count_cards(nodes: Iterable[NodeFacts]) -> CardCount:
    """The sum over nodes; each node counts for itself, however alike two of them are."""
    return sum((cards_of(node) for node in nodes), CardCount())


def takes_cards(phase: str) -> bool:
    """Whether a pod in this phase still takes its cards: a finished one does not (F03)."""
    return phase not in FINISHED_PHASES


def largest_free(nodes: Iterable[NodeFacts]) -> Bundle:
    """The free part of the CPU node with most free cores, then memory; nothing where there is none."""
    free = [node.free for node in nodes if node.mark is None]
    return max(free, key=lambda room: (room.cpu, room.memory), default=NOTHING)


@dataclass(frozen=True, slots=True)
class LargestRequest:
    """What fits at once: the most cards on one node, and how many nodes have that many free."""

    cards_per_node: int = 0
    nodes: int = 0


def largest_request(nodes: Sequence[NodeFacts], share: Bundle) -> LargestRequest:
    """The largest request of a mark that fits now; ``share`` is what one card brings with it (domain.md §5)."""
    if share.cards != 1:
        raise ValueError("the share of one card is meant")
    fitting = [node.free.times_covering(share) for node in nodes]
    most = max(fitting, default=0)
    return LargestRequest(Cards(most), sum(1 for count in fitting if count == most)) if most else LargestRequest()
