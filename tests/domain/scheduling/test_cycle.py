"""A whole cycle as a function of values (domain.md §7): who is admitted, and the one reason of whoever waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.kernel.resources import NOTHING
from apps.quotas.domain.ledger import Standing
from apps.scheduling.domain.cycle import Admit, Decisions, Wait, decide
from apps.scheduling.domain.snapshot import ClusterView, Snapshot
from apps.tasks.domain.spec import Priority
from apps.tasks.domain.states import Reason
from tests.support.plant import (
    HOME,
    LENT,
    MARK,
    OWN,
    PUBLIC,
    START,
    a_cpu_need,
    a_cpu_node,
    a_need,
    a_node,
    a_snapshot,
    a_task,
)

NOW = START + timedelta(minutes=1)
CARDS = f"cards:{MARK}"


def admitted(decisions: Decisions) -> dict[str, dict[str, int]]:
    return {each.task.id: dict(each.plan) for each in decisions.admissions}


def reasons(decisions: Decisions) -> dict[str, tuple[str, dict[str, Any]]]:
    return {each.task.id: (each.reason.value, dict(each.numbers)) for each in decisions.waiting}


def test_what_fits_is_admitted_with_its_plan() -> None:
    task = a_task(need=a_need(2))
    (decision,) = decide(a_snapshot(nodes=(a_node("n"),), queued=(task,)), NOW).admissions
    whole = (decision.task, decision.cluster_id, decision.pool_id, decision.plan, decision.keeps_quota_hold)
    assert (*whole, decision.waited_seconds) == (task, 1, PUBLIC.id, {"n": 1}, True, 60)


def test_in_the_project_pool_the_quota_is_given_back() -> None:
    nodes = (a_node("n", pool_id=OWN.id),)
    (decision,) = decide(a_snapshot(nodes=nodes, queued=(a_task(),)), NOW).admissions
    assert (decision.pool_id, decision.keeps_quota_hold) == (OWN.id, False)


def test_of_two_gangs_one_runs_whole_and_the_other_has_nothing() -> None:
    """F34: 8 free cards, two gangs of 5, then one of 8 behind them."""
    gangs = (a_task("a", a_need(1, 5)), a_task("b", a_need(1, 5), at=1), a_task("c", a_need(1, 8), at=2))
    decisions = decide(a_snapshot(nodes=(a_node("n"),), queued=gangs), NOW)
    assert admitted(decisions) == {"a": {"n": 5}}
    place = {"pool": "public", "cluster": "beijing", "resource": CARDS, "free": 3, "fits": 3}
    assert reasons(decisions) == {
        "b": ("GangPartial", {**place, "needed": 5, "wanted": 5, "position": 1}),
        "c": ("GangPartial", {**place, "needed": 8, "wanted": 8, "position": 2}),
    }


def test_a_blocked_head_does_not_block_a_smaller_task_behind_it() -> None:
    queued = (a_task("big", a_need(8)), a_task("small", a_need(1), at=1))
    decisions = decide(a_snapshot(nodes=(a_node("n", used=4),), queued=queued), NOW)
    assert (admitted(decisions), list(reasons(decisions))) == ({"small": {"n": 1}}, ["big"])


def test_a_full_pool_is_told_from_a_fragmented_one() -> None:
    half = (a_node("a", used=6), a_node("b", used=6))
    queued = (a_task("split", a_need(4)), a_task("much", a_need(5), at=1))
    place = {"pool": "public", "cluster": "beijing", "resource": CARDS, "free": 4}
    assert reasons(decide(a_snapshot(nodes=half, queued=queued), NOW)) == {
        "split": ("Fragmented", {**place, "needed": 4, "largest": 2, "position": 1}),
        "much": ("PoolFull", {**place, "needed": 5, "position": 2}),
    }


def test_the_short_resource_is_the_one_that_is_named() -> None:
    queued = (a_task("memory", a_cpu_need(1_000, 20_000)),)
    expected = {"pool": "public", "cluster": "beijing", "resource": "memory", "needed": 20_000, "free": 16_384}
    decisions = decide(a_snapshot(nodes=(a_cpu_node("c"),), queued=queued), NOW)
    assert reasons(decisions) == {"memory": ("PoolFull", {**expected, "position": 1})}


def test_cores_and_memory_on_different_nodes_are_fragments() -> None:
    nodes = (a_cpu_node("cores", cpu=9_000, memory=10), a_cpu_node("memory", cpu=10, memory=9_000))
    decisions = decide(a_snapshot(nodes=nodes, queued=(a_task("x", a_cpu_need(9_000, 9_000)),)), NOW)
    numbers = {"resource": "cpu", "needed": 9_000, "free": 9_010, "largest": 9_000}
    assert reasons(decisions) == {
        "x": ("Fragmented", {"pool": "public", "cluster": "beijing", **numbers, "position": 1})
    }


@pytest.mark.parametrize(
    ("facts", "reason", "numbers"),
    [
        pytest.param({"marks": frozenset(), "nodes": ()}, "UnknownMark", {"mark": MARK}, id="nobody knows the mark"),
        pytest.param({"nodes": ()}, "NoCapableCluster", {"mark": MARK}, id="no node of the mark"),
        pytest.param(
            {"clusters": (replace(HOME, enabled=False),)}, "NoCapableCluster", {"mark": MARK}, id="takes no tasks"
        ),
        pytest.param(
            {"clusters": (replace(HOME, reachable=False),)},
            "ClusterUnreachable",
            {"clusters": ["beijing"]},
            id="does not answer",
        ),
        pytest.param(
            {"nodes": (a_node("n", ready=False),)},
            "PoolFull",
            {"pool": "public", "cluster": "beijing", "resource": CARDS, "needed": 1, "free": 0},
            id="the node is lost",
        ),
    ],
)
def test_the_one_reason(facts: dict[str, Any], reason: str, numbers: dict[str, Any]) -> None:
    values = {"nodes": (a_node("n"),), "queued": (a_task(),)} | facts
    assert reasons(decide(a_snapshot(**values), NOW)) == {"a": (reason, {**numbers, "position": 1})}


QUOTAS = {("p7", CARDS): Standing(limit=4, used=4), ("u3", CARDS): Standing(limit=1, used=1)}


def test_quota_and_capacity_are_two_reasons() -> None:
    own = a_node("own", pool_id=OWN.id, used=8)
    task = a_task(holds_quota=False, booked={CARDS: 1})
    quota = {"resource": CARDS, "asked": 1, "used": 4, "limit": 4, "position": 1}
    roomy = a_snapshot(nodes=(own, a_node("shared")), queued=(task,), quotas=QUOTAS)
    assert reasons(decide(roomy, NOW)) == {"a": ("ProjectQuota", quota)}
    full = a_snapshot(nodes=(own, a_node("shared", used=8)), queued=(task,), quotas=QUOTAS)
    place = {"pool": "map-team", "cluster": "beijing", "resource": CARDS, "needed": 1, "free": 0, "position": 1}
    assert reasons(decide(full, NOW)) == {"a": ("PoolFull", place)}


def test_a_personal_task_without_quota_waits_for_quota() -> None:
    task = a_task(holds_quota=False, booked={CARDS: 1}, project_id=None, scope="u3")
    full = a_snapshot(nodes=(a_node("shared", used=8),), queued=(task,), quotas=QUOTAS)
    numbers = {"resource": CARDS, "asked": 1, "used": 1, "limit": 1, "position": 1}
    assert reasons(decide(full, NOW)) == {"a": ("UserQuota", numbers)}


def test_positions_count_those_who_wait_for_the_same_mark() -> None:
    queued = (a_task("a", a_need(8)), a_task("c", a_cpu_need(99_000), at=1), a_task("b", a_need(8), at=2))
    nodes = (a_node("n", used=8), a_cpu_node("c"))
    found = reasons(decide(a_snapshot(nodes=nodes, queued=queued), NOW))
    assert {name: numbers["position"] for name, (_token, numbers) in found.items()} == {"a": 1, "b": 2, "c": 1}


def test_many_admissions_spread_by_free_cards_and_queue() -> None:
    clusters = (ClusterView(1, "alpha"), ClusterView(2, "beta"))
    nodes = (a_node("a"), a_node("b", cluster_id=2))
    queued = tuple(a_task(str(turn), at=turn) for turn in range(4))
    decisions = decide(a_snapshot(nodes=nodes, clusters=clusters, queued=queued), NOW)
    assert [each.cluster_id for each in decisions.admissions] == [1, 2, 1, 2]


tasks = st.builds(
    lambda identity, at, need, priority, project, holds: a_task(
        f"t{identity}",
        need,
        at=at,
        priority=priority if project or priority is not Priority.HIGH else Priority.NORMAL,
        project_id=project,
        scope=f"p{project}" if project else "u3",
        holds_quota=holds,
    ),
    st.integers(0, 10**6),
    st.integers(0, 9),
    st.one_of(
        st.builds(a_need, st.integers(1, 4), st.integers(1, 4)),
        st.builds(a_cpu_need, st.integers(1, 9_000), st.integers(1, 17_000), st.integers(1, 3)),
    ),
    st.sampled_from(Priority),
    st.sampled_from([None, 7, 8]),
    st.booleans(),
)
pools = st.sampled_from([PUBLIC.id, OWN.id, LENT.id, None])
nodes = st.lists(st.tuples(st.booleans(), st.integers(1, 2), pools, st.integers(0, 9), st.booleans()), max_size=6).map(
    lambda rows: tuple(
        a_node(f"n{place}", cluster_id=cluster, pool_id=pool, used=used, ready=ready)
        if cards
        else a_cpu_node(f"n{place}", cluster_id=cluster, pool_id=pool, ready=ready)
        for place, (cards, cluster, pool, used, ready) in enumerate(rows)
    )
)
snapshots = st.builds(
    lambda queued, nodes, reachable: a_snapshot(
        queued=tuple(queued),
        nodes=nodes,
        clusters=(HOME, ClusterView(2, "second", reachable=reachable)),
    ),
    st.lists(tasks, max_size=8, unique_by=lambda task: task.id),
    nodes,
    st.booleans(),
)
PROPERTY = settings(max_examples=60, deadline=None)


@PROPERTY
@given(snapshots)
def test_everybody_is_decided_exactly_once_and_alike_each_time(snapshot: Snapshot) -> None:
    decisions = decide(snapshot, NOW)
    decided = [each.task.id for each in decisions.admissions] + [each.task.id for each in decisions.waiting]
    assert sorted(decided) == sorted(task.id for task in snapshot.queued)
    shuffled = replace(snapshot, queued=snapshot.queued[::-1], nodes=snapshot.nodes[::-1])
    assert decide(shuffled, NOW) == decisions


@PROPERTY
@given(snapshots)
def test_no_node_is_ever_overcommitted(snapshot: Snapshot) -> None:
    use = {(node.cluster_id, node.name): node.used for node in snapshot.nodes}
    touched = set()
    for decision in decide(snapshot, NOW).admissions:
        for name, count in decision.plan.items():
            spot = (decision.cluster_id, name)
            use[spot] += decision.task.need.per_node * count
            touched.add(spot)
    by_place = {(node.cluster_id, node.name): node for node in snapshot.nodes}
    assert all(by_place[spot].ready and by_place[spot].capacity.covers(use[spot]) for spot in touched)


def allowed(decision: Admit) -> bool:
    """The truth table of domain.md §6, written a second time."""
    task, pool = decision.task, {PUBLIC.id: PUBLIC, OWN.id: OWN, LENT.id: LENT}[decision.pool_id]
    if pool.is_public:
        return task.priority is Priority.LOW or (task.priority is Priority.NORMAL and task.holds_quota)
    if task.priority is Priority.LOW:
        return pool.lend_idle and task.project_id is not None
    return pool.project_id == task.project_id


@PROPERTY
@given(snapshots)
def test_nobody_enters_a_pool_or_node_that_is_not_for_them(snapshot: Snapshot) -> None:
    places = {(node.cluster_id, node.name): node for node in snapshot.nodes}
    silent = {cluster.id for cluster in snapshot.clusters if not cluster.reachable}
    for decision in decide(snapshot, NOW).admissions:
        assert allowed(decision)
        assert decision.cluster_id not in silent
        assert sum(decision.plan.values()) == decision.task.need.nodes
        for name in decision.plan:
            node = places[decision.cluster_id, name]
            assert (node.mark, node.pool_id) == (decision.task.need.mark, decision.pool_id)


@PROPERTY
@given(snapshots)
def test_whoever_waits_is_told_one_reason_with_a_position(snapshot: Snapshot) -> None:
    for wait in decide(snapshot, NOW).waiting:
        assert isinstance(wait, Wait)
        assert isinstance(wait.reason, Reason)
        assert wait.numbers["position"] >= 1


@PROPERTY
@given(snapshots)
def test_nobody_waits_who_would_fit_when_all_is_done(snapshot: Snapshot) -> None:
    decisions = decide(snapshot, NOW)
    use = {(node.cluster_id, node.name): NOTHING for node in snapshot.nodes}
    for decision in decisions.admissions:
        for name, count in decision.plan.items():
            use[decision.cluster_id, name] += decision.task.need.per_node * count
    after = tuple(replace(node, used=node.used + use[node.cluster_id, node.name]) for node in snapshot.nodes)
    left = tuple(wait.task for wait in decisions.waiting)
    assert decide(replace(snapshot, nodes=after, queued=left), NOW).admissions == ()
