"""Nodes with their use, and what of each kind of card is free, in REST's words (rest.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rest_framework import serializers

from apps.clusters.domain.inventory import NodeFacts, cards_of, count_cards, largest_free
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.models import Node
from apps.kernel.quantities import format_cpu, format_memory
from apps.kernel.resources import Bundle
from apps.scheduling.selectors import Plant


class AmountShape(serializers.Serializer[Any]):
    cpu = serializers.CharField()
    cpu_millicores = serializers.IntegerField()
    memory = serializers.CharField()
    memory_mib = serializers.IntegerField()
    cards = serializers.IntegerField()


def amount(room: Bundle) -> dict[str, Any]:
    """An amount as exact integers and as Kubernetes text."""
    return {
        "cpu": format_cpu(room.cpu),
        "cpu_millicores": room.cpu,
        "memory": format_memory(room.memory),
        "memory_mib": room.memory,
        "cards": room.cards,
    }


class NodeAnswer(serializers.Serializer[Any]):
    """A machine as last seen; ``pool`` is null where it is in none, or in one of a project that is not yours.

    The context holds ``facts`` by node name and the ``pools`` that the caller may know of.
    """

    name = serializers.CharField()
    pool = serializers.CharField(allow_null=True)
    mark = serializers.CharField(allow_null=True)
    ready = serializers.BooleanField()
    cordoned = serializers.BooleanField()
    capacity = AmountShape()
    used = AmountShape()
    free = AmountShape()
    cards_built_in = serializers.IntegerField()
    cards_faulty = serializers.IntegerField()
    seen_at = serializers.DateTimeField()

    def to_representation(self, row: Node) -> dict[str, Any]:
        facts: NodeFacts = self.context["facts"].get(row.name) or NodeFacts(row.cluster_id, row.name, ready=False)
        cards = cards_of(facts)
        return {
            "name": row.name,
            "pool": row.pool.name if row.pool and row.pool_id in self.context["pools"] else None,
            "mark": row.mark.mark if row.mark else None,
            "ready": row.ready,
            "cordoned": row.unschedulable,
            "capacity": amount(facts.capacity),
            "used": amount(facts.used),
            "free": amount(facts.free),
            "cards_built_in": cards.built_in,
            "cards_faulty": cards.faulty,
            "seen_at": row.seen_at,
        }


class PoolCardsShape(serializers.Serializer[Any]):
    pool = serializers.CharField()
    free_cards = serializers.IntegerField()
    total_cards = serializers.IntegerField()


class ClusterCardsShape(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    reachable = serializers.BooleanField()
    free_cards = serializers.IntegerField()
    total_cards = serializers.IntegerField()
    pools = PoolCardsShape(many=True)


class MarkShape(serializers.Serializer[Any]):
    mark = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the name is rest.md's; no field option here
    resource = serializers.CharField()
    is_device = serializers.BooleanField()
    cards_per_node = serializers.IntegerField()
    cores_per_card = serializers.CharField()
    cpu_millicores_per_card = serializers.IntegerField()
    memory_mib_per_card = serializers.IntegerField()
    price_per_card_hour = serializers.IntegerField()
    clusters = ClusterCardsShape(many=True)


class CpuShape(serializers.Serializer[Any]):
    largest_free_node = AmountShape()


class ResourcesAnswer(serializers.Serializer[Any]):
    """Every kind of card with what is free of it in the pools that the caller may use, and the roomiest CPU node."""

    marks = MarkShape(many=True)
    cpu = CpuShape()


def resources_answer(plant: Plant, pools: Collection[int]) -> dict[str, Any]:
    """The plant as somebody sees it who may know of these pools only."""
    nodes = [node for node in plant.nodes if node.pool_id in pools]
    roomiest = largest_free(nodes)
    return {
        "marks": [_mark(facts, plant, nodes) for facts in sorted(plant.marks.values(), key=lambda facts: facts.mark)],
        "cpu": {"largest_free_node": amount(roomiest)},
    }


def _mark(facts: MarkFacts, plant: Plant, nodes: Sequence[NodeFacts]) -> dict[str, Any]:
    own = [node for node in nodes if node.mark == facts.mark]
    names = {pool.id: pool.name for pool in plant.pools}
    by_cluster = [(view, [node for node in own if node.cluster_id == view.id]) for view in plant.clusters]
    return {
        "mark": facts.mark,
        "label": facts.label,
        "resource": facts.resource_name,
        "is_device": facts.is_device,
        "cards_per_node": facts.cards_per_node,
        "cores_per_card": format_cpu(facts.cpu_per_card),
        "cpu_millicores_per_card": facts.cpu_per_card,
        "memory_mib_per_card": facts.memory_per_card,
        "price_per_card_hour": facts.price_per_card_hour,
        "clusters": [
            {"cluster": view.name, "reachable": view.reachable, **_cards(there), "pools": _by_pool(there, names)}
            for view, there in by_cluster
            if there
        ],
    }


def _cards(nodes: Sequence[NodeFacts]) -> dict[str, int]:
    cards = count_cards(nodes)
    return {"free_cards": cards.free, "total_cards": cards.usable}


def _by_pool(nodes: Sequence[NodeFacts], names: Mapping[int, str]) -> list[dict[str, Any]]:
    present = sorted({node.pool_id for node in nodes if node.pool_id is not None}, key=lambda pool: names[pool])
    return [{"pool": names[pool], **_cards([node for node in nodes if node.pool_id == pool])} for pool in present]
