"""How a machine's share is split over containers, and what a task books (domain.md §4). Millicores, MiB, pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.errors import Code, Refusal
from apps.kernel.resources import Bundle, Cards, MiB, Millicores
from apps.kernel.text import say as _
from apps.tasks.domain.spec import ContainerSpec, ResourceRequest, TaskSpec

REQUEST_DIVISOR = 4


@dataclass(frozen=True, slots=True)
class Share:
    """One container's part of a node: limits and requests in millicores and MiB, cards in pieces."""

    cpu_limit: Millicores
    memory_limit: MiB
    cpu_request: Millicores
    memory_request: MiB
    cards: Cards


def _refusal(field: str, message: str, **numbers: object) -> Refusal:
    return Refusal(Code.INVALID, message, {field: [message]}, numbers)


def apportion(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Whole shares of ``total`` by weight, summing to it exactly: floors, then the largest remainders, ties earlier."""
    whole = sum(weights)
    shares = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda place: (-(total * weights[place] % whole), place))
    for place in by_remainder[: total - sum(shares)]:
        shares[place] += 1
    return tuple(shares)


def _weights(given: Sequence[int | None], name: str) -> tuple[int, ...] | Refusal:
    if all(weight is None for weight in given):
        return tuple(1 for _weight in given)
    for place, weight in enumerate(given):
        if weight is None:
            return _refusal(
                f"containers.{place}.{name}", _("give it for every container, or leave it out for all: equal shares")
            )
        if weight < 1:
            return _refusal(f"containers.{place}.{name}", _("must be more than nothing"))
    return tuple(weight for weight in given if weight is not None)


def _bound(total: int, given: Sequence[int | None], name: str) -> tuple[int, ...] | Refusal:
    """The machine's cpu or memory split by weights; every container gets at least one unit, else refused."""
    weights = _weights(given, name)
    if isinstance(weights, Refusal):
        return weights
    shares = apportion(total, weights)
    if min(shares) < 1:
        starved = shares.index(min(shares))
        return _refusal(f"containers.{starved}.{name}", _("the share of this container would be nothing"), total=total)
    return shares


def _own(given: Sequence[int | None], name: str) -> tuple[int, ...] | Refusal:
    """Without bound cards the containers' own figures are the limits (rules 4 and 5)."""
    for place, amount in enumerate(given):
        if amount is None or amount < 1:
            return _refusal(f"containers.{place}.{name}", _("is needed when no card brings it along"))
    return tuple(amount for amount in given if amount is not None)


def _cards(containers: Sequence[ContainerSpec], wanted: int) -> tuple[int, ...] | Refusal:
    given = [container.cards for container in containers]
    count = len(containers)
    if any(cards is not None and (wanted > 0 or cards != 0) for cards in given):
        chosen = tuple(cards or 0 for cards in given)
        if min(chosen) < 0 or sum(chosen) != wanted:
            fields = {f"containers.{place}.cards" for place, cards in enumerate(given) if cards is not None}
            message = _(
                "the containers' cards sum to %(given)d, but a node has %(wanted)d", given=sum(chosen), wanted=wanted
            )
            return Refusal(
                Code.INVALID,
                message,
                {field: [message] for field in sorted(fields)},
                {"given": sum(chosen), "wanted": wanted},
            )
        return chosen
    if wanted == 1:
        return (1, *(0 for _container in containers[1:]))
    each, left = divmod(wanted, count)
    return tuple(each + (1 if place < left else 0) for place in range(count))


def split(
    containers: Sequence[ContainerSpec], resources: ResourceRequest, mark: MarkFacts | None
) -> tuple[Share, ...] | Refusal:
    """Each container's limits, requests and cards on one node, in the containers' order (domain.md §4)."""
    if not containers:
        return _refusal("containers", _("at least one container is needed"))
    wanted = resources.cards_per_node
    if wanted > 0 and mark is None:
        message = _("there is no such kind of card")
        return Refusal(Code.UNKNOWN_MARK, message, {"resources.mark": [message]}, {"mark": resources.mark})
    cpu_given = [container.cpu for container in containers]
    memory_given = [container.memory for container in containers]
    cpu: tuple[int, ...] | Refusal
    memory: tuple[int, ...] | Refusal
    if mark is not None and wanted > 0 and not mark.is_device:
        cpu = _bound(mark.share(wanted).cpu, cpu_given, "cpu")
        memory = _bound(mark.share(wanted).memory, memory_given, "memory")
    else:
        cpu, memory = _own(cpu_given, "cpu"), _own(memory_given, "memory")
    cards = _cards(containers, wanted)
    if isinstance(cpu, Refusal):
        return cpu
    if isinstance(memory, Refusal):
        return memory
    if isinstance(cards, Refusal):
        return cards
    return tuple(_share(*amounts) for amounts in zip(cpu, memory, cards, strict=True))


def _share(cpu: int, memory: int, cards: int) -> Share:
    """Requests are a quarter of the limits, at least 1; never so for cards, where Kubernetes demands equality."""
    return Share(
        Millicores(cpu),
        MiB(memory),
        Millicores(max(1, cpu // REQUEST_DIVISOR)),
        MiB(max(1, memory // REQUEST_DIVISOR)),
        Cards(cards),
    )


def per_node(spec: TaskSpec, mark: MarkFacts | None) -> Bundle:
    """What one of the task's pods takes from a node: the bound share, or the sum of the containers' own figures."""
    wanted = spec.resources.cards_per_node
    if mark is not None and wanted > 0 and not mark.is_device:
        return mark.share(wanted)
    return Bundle(
        Millicores(sum(container.cpu or 0 for container in spec.containers)),
        MiB(sum(container.memory or 0 for container in spec.containers)),
        Cards(wanted),
    )


def placed_amounts(spec: TaskSpec, mark: MarkFacts | None) -> dict[str, int]:
    """What the task's place in a pool books: the bound cores and memory beside the cards (§4), unlike a quota."""
    whole = per_node(spec, mark) * spec.resources.nodes
    amounts: dict[str, int] = {"cpu": whole.cpu, "memory": whole.memory}
    if spec.resources.mark is not None:
        amounts[f"cards:{spec.resources.mark}"] = whole.cards
    return {resource: amount for resource, amount in amounts.items() if amount > 0}


def booked(spec: TaskSpec, mark: MarkFacts | None) -> dict[str, int]:
    """Quota amounts of the whole task: ``cards:<mark>`` alone for cards and devices, else cpu and memory (§6)."""
    nodes, one = spec.resources.nodes, per_node(spec, mark)
    if spec.resources.mark is not None and one.cards > 0:
        amounts = {f"cards:{spec.resources.mark}": one.cards * nodes}
    else:
        amounts = {"cpu": one.cpu * nodes, "memory": one.memory * nodes}
    return {resource: amount for resource, amount in amounts.items() if amount > 0}
