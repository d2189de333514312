"""Pools by priority (the truth table of domain.md §6) and clusters by score (§9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.clusters.domain.inventory import NodeFacts
from apps.clusters.domain.pools import PoolFacts
from apps.scheduling.domain.ground import Ground
from apps.scheduling.domain.placement import NotPlaced, Placed, ScoreCard, place, tiers
from apps.scheduling.domain.snapshot import ClusterView, QueuedTask
from apps.tasks.domain.spec import Priority
from tests.support.plant import HOME, LENT, OWN, PUBLIC, a_node, a_task

POOLS = (PUBLIC, OWN, LENT)
OWN_LENT = replace(OWN, lend_idle=True)
HIGH, NORMAL, LOW = Priority.HIGH, Priority.NORMAL, Priority.LOW


@pytest.mark.parametrize(
    ("priority", "holds", "own", "expected"),
    [
        pytest.param(HIGH, False, OWN, ((OWN,),), id="high: own pool, never public"),
        pytest.param(HIGH, True, OWN, ((OWN,),), id="high: quota opens no public pool"),
        pytest.param(NORMAL, True, OWN, ((OWN,), (PUBLIC,)), id="normal: own pool first, public second"),
        pytest.param(NORMAL, False, OWN, ((OWN,),), id="normal without quota: own pool only"),
        pytest.param(LOW, False, OWN, ((PUBLIC,), (LENT,)), id="low: no own pool that is not lent"),
        pytest.param(LOW, False, OWN_LENT, ((OWN_LENT,), (PUBLIC,), (LENT,)), id="low: own lent pool"),
    ],
)
def test_which_pools_a_projects_task_may_enter(
    priority: Priority, holds: bool, own: PoolFacts, expected: tuple[tuple[PoolFacts, ...], ...]
) -> None:
    assert tiers(a_task(priority=priority, holds_quota=holds), (PUBLIC, own, LENT)) == expected


@pytest.mark.parametrize(
    ("priority", "holds", "expected"),
    [
        pytest.param(NORMAL, True, ((PUBLIC,),), id="normal: public"),
        pytest.param(NORMAL, False, (), id="normal without quota: nowhere"),
        pytest.param(LOW, False, ((PUBLIC,),), id="low: public"),
        pytest.param(HIGH, False, (), id="high: nowhere"),
    ],
)
def test_a_personal_task_never_enters_a_project_pool(
    priority: Priority, holds: bool, expected: tuple[tuple[PoolFacts, ...], ...]
) -> None:
    task = a_task(priority=priority, holds_quota=holds, project_id=None, scope="u3")
    assert tiers(task, (PUBLIC, OWN_LENT, LENT)) == expected


def placed(task: QueuedTask, nodes: tuple[NodeFacts, ...], *clusters: ClusterView) -> tuple[str, str] | None:
    outcome = place(task, Ground(nodes), POOLS, clusters or (HOME,))
    return (outcome.cluster.name, outcome.pool.name) if isinstance(outcome, Placed) else None


def test_the_project_pool_comes_before_a_roomier_public_one() -> None:
    nodes = (a_node("shared"), a_node("own", cards=1, pool_id=OWN.id))
    assert placed(a_task(), nodes) == ("beijing", "map-team")


def test_a_full_project_pool_leads_to_the_public_one() -> None:
    nodes = (a_node("shared"), a_node("own", cards=1, used=1, pool_id=OWN.id))
    assert placed(a_task(), nodes) == ("beijing", "public")


def test_another_projects_pool_is_never_entered() -> None:
    assert placed(a_task(), (a_node("theirs", pool_id=LENT.id),)) is None


A, B = ClusterView(1, "alpha"), ClusterView(2, "beta")


@pytest.mark.parametrize(
    ("first", "second", "taken", "clusters"),
    [
        pytest.param(0, 1, "alpha", (A, B), id="most free cards of the mark"),
        pytest.param(1, 0, "beta", (A, B), id="most free cards, the other way"),
        pytest.param(0, 0, "beta", (replace(A, starting=2), B), id="then the fewest queued"),
        pytest.param(0, 0, "alpha", (B, A), id="then the name"),
        pytest.param(0, 4, "beta", (replace(A, reachable=False), B), id="only one that answers"),
        pytest.param(0, 4, "beta", (replace(A, enabled=False), B), id="only one that takes tasks"),
        pytest.param(8, 7, "beta", (A, B), id="only one that fits"),
    ],
)
def test_between_clusters(first: int, second: int, taken: str, clusters: tuple[ClusterView, ...]) -> None:
    nodes = (a_node("a", used=first), a_node("b", used=second, cluster_id=2))
    assert placed(a_task(), nodes, *clusters) == (taken, "public")


def test_a_kind_goes_only_where_its_api_is_served() -> None:
    task = a_task(need=replace(a_task().need, api="kubeflow.org/v2beta1"))
    nodes = (a_node("a"), a_node("b", used=7, cluster_id=2))
    able = replace(B, capabilities=frozenset({"kubeflow.org/v2beta1"}))
    assert placed(task, nodes, A, able) == ("beta", "public")


def test_a_pinned_task_goes_nowhere_else() -> None:
    task = a_task(pinned=(2, PUBLIC.id))
    nodes = (a_node("a"), a_node("b", used=7, cluster_id=2))
    assert placed(task, nodes, A, B) == ("beta", "public")


def test_every_cluster_gets_a_score_card() -> None:
    nodes = (a_node("a", used=6), a_node("b", used=8, cluster_id=2))
    outcome = place(a_task(), Ground(nodes), POOLS, (A, B, ClusterView(3, "empty", reachable=False)))
    assert outcome.cards == (
        ScoreCard(1, "alpha", True, True, present=True, fits=True, pool="public", free=2, chosen=True),
        ScoreCard(2, "beta", True, True, present=True, fits=False, pool="public", free=0),
        ScoreCard(3, "empty", True, False, present=False, fits=False),
    )


def test_an_unreachable_cluster_that_would_fit_is_not_chosen() -> None:
    outcome = place(a_task(), Ground((a_node("a"),)), POOLS, (replace(A, reachable=False),))
    assert isinstance(outcome, NotPlaced)
    assert [(card.fits, card.reachable, card.chosen) for card in outcome.cards] == [(True, False, False)]
