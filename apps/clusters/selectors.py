"""Reads of the plant that services and pages share."""

from __future__ import annotations

from apps.clusters.domain.marks import MarkFacts
from apps.clusters.models import AcceleratorType, Cluster
from apps.kernel.resources import MiB, Millicores


def mark_facts() -> list[MarkFacts]:
    """Every mark by name; one query."""
    return [facts_of(row) for row in AcceleratorType.objects.order_by("mark")]


def facts_of(row: AcceleratorType) -> MarkFacts:
    """A mark as the domain knows it."""
    return MarkFacts(
        mark=row.mark,
        resource_name=row.resource_name,
        cards_per_node=row.cards_per_node,
        cpu_per_card=Millicores(row.cpu_per_card),
        memory_per_card=MiB(row.memory_per_card),
        node_selector=row.node_selector,
        is_device=row.is_device,
        label=row.label,
        price_per_card_hour=row.price_per_card_hour,
    )


def identities(*, without: Cluster | None = None) -> dict[str, str]:
    """The names of clusters by their identity, those that are known; ``without`` that one."""
    rows = Cluster.objects.exclude(identity="").values_list("identity", "name", "pk")
    return {identity: name for identity, name, pk in rows if without is None or pk != without.pk}
