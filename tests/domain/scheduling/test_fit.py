"""Fit by node (domain.md §7): tightest first, gangs whole, cards for tasks with cards only."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.domain.inventory import NodeFacts, Taint
from apps.scheduling.domain.fit import Fit, NoFit, fit, occupied, suitable
from apps.scheduling.domain.selection import Requirement, Selection, Toleration, read_selection, read_taints
from apps.scheduling.domain.snapshot import Need
from tests.support.plant import MARK, a_cpu_need, a_cpu_node, a_need, a_node, bundle, share


def test_the_tightest_node_is_taken_first() -> None:
    nodes = (a_node("roomy"), a_node("tight", used=6), a_node("full", used=8))
    assert fit(a_need(2), nodes) == Fit({"tight": 2 // 2})


def test_pods_spill_over_to_the_next_node() -> None:
    nodes = (a_node("roomy"), a_node("tight", used=5))
    assert fit(a_need(2, nodes=3), nodes) == Fit({"tight": 1, "roomy": 2})


def test_a_gang_fits_whole_or_not_at_all() -> None:
    """F34: 3 free cards hold no part of a gang of 5."""
    assert fit(a_need(1, nodes=5), (a_node("a", used=5),)) == NoFit(3, share(3), share(3))


def test_a_deployment_starts_with_its_least_and_takes_what_is_there() -> None:
    assert fit(a_need(1, nodes=5, least=2), (a_node("a", used=5),)) == Fit({"a": 3})


def test_a_node_without_room_in_one_quantity_does_not_fit() -> None:
    node = a_node("a", used=0, capacity=bundle(30_000, 10**6, 8))
    assert fit(a_need(2), (node,)) == NoFit(0, node.capacity, node.capacity)


def test_scaled_to_nothing_fits_anywhere() -> None:
    assert fit(a_need(1, nodes=0), ()) == Fit({})


@pytest.mark.parametrize("state", [{"ready": False}, {"cordoned": True}])
def test_a_node_that_takes_no_tasks_has_no_room(state: dict[str, bool]) -> None:
    assert isinstance(fit(a_need(), (a_node("a", **state),)), NoFit)


def test_cards_nodes_take_tasks_with_cards_only_and_of_their_mark() -> None:
    nodes = (a_node("cards"), a_cpu_node("cpu"), a_node("other", mark="a100-80g"))
    assert [node.name for node in suitable(a_cpu_need(), nodes)] == ["cpu"]
    assert [node.name for node in suitable(a_need(), nodes)] == ["cards"]


TAINT = Taint("nvidia.com/gpu", "", "NoSchedule")


@pytest.mark.parametrize(
    ("taint", "toleration", "expected"),
    [
        (TAINT, None, False),
        (TAINT, Toleration("nvidia.com/gpu", "Exists"), True),
        (TAINT, Toleration("nvidia.com/gpu", "Exists", effect="NoExecute"), False),
        (TAINT, Toleration("", "Exists"), True),
        (TAINT, Toleration("other", "Exists"), False),
        (Taint("team", "map"), Toleration("team", "Equal", "map"), True),
        (Taint("team", "map"), Toleration("team", "Equal", "sim"), False),
        (Taint("soft", effect="PreferNoSchedule"), None, True),
    ],
)
def test_taints_keep_away_whoever_does_not_tolerate_them(
    taint: Taint, toleration: Toleration | None, expected: bool
) -> None:
    selection = Selection(tolerations=(toleration,) if toleration else ())
    assert selection.tolerates((taint,)) is expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Requirement("zone", "In", ("a", "b")), True),
        (Requirement("zone", "In", ("b",)), False),
        (Requirement("zone", "NotIn", ("b",)), True),
        (Requirement("absent", "NotIn", ("b",)), True),
        (Requirement("zone", "Exists"), True),
        (Requirement("absent", "Exists"), False),
        (Requirement("absent", "DoesNotExist"), True),
        (Requirement("disks", "Gt", ("3",)), True),
        (Requirement("disks", "Lt", ("3",)), False),
        (Requirement("zone", "Gt", ("3",)), False),
        (Requirement("absent", "Lt", ("3",)), False),
        (Requirement("disks", "Gt"), False),
    ],
)
def test_node_rules_as_kubernetes_reads_them(rule: Requirement, expected: bool) -> None:
    assert Selection(terms=((rule,),)).accepts({"zone": "a", "disks": "4"}) is expected


def test_of_alternative_terms_one_must_hold_whole() -> None:
    a, b = Requirement("zone", "In", ("a",)), Requirement("disk", "Exists")
    assert not Selection(terms=((a, b),)).accepts({"zone": "a"})
    assert Selection(terms=((a, b), (a,))).accepts({"zone": "a"})


def test_chosen_labels_must_be_there() -> None:
    assert not Selection((("zone", "a"),)).accepts({"zone": "b"})


def test_the_advanced_part_of_a_spec_is_read_as_rules() -> None:
    rule = {"key": "zone", "operator": "In", "values": ["a"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    advanced = {
        "node_selector": {"disk": "ssd"},
        "tolerations": [{"key": "team", "value": "map", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
    }
    assert read_selection(advanced, resource_name="nvidia.com/gpu") == Selection(
        (("disk", "ssd"),),
        ((Requirement("zone", "In", ("a",)),),),
        (Toleration("team", "Equal", "map", "NoSchedule"), Toleration("nvidia.com/gpu", "Exists", "", "NoSchedule")),
    )


def test_a_task_without_cards_brings_no_toleration_of_them() -> None:
    assert read_selection({}, resource_name=None) == Selection()


def test_f18_a_taint_with_null_fields_is_read_as_empty() -> None:
    assert read_taints([{"key": "team", "value": None, "effect": None}, {}]) == (
        Taint("team", "", ""),
        Taint("", "", ""),
    )


nodes_of_any_size = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 9), st.booleans(), st.booleans()), max_size=6
).map(
    lambda rows: tuple(
        a_node(f"n{place}", cards=cards, used=used, ready=ready, cordoned=cordoned)
        for place, (cards, used, ready, cordoned) in enumerate(rows)
    )
)
needs = st.builds(a_need, st.integers(1, 4), st.integers(0, 9), least=st.integers(0, 9)).map(
    lambda need: Need(need.per_node, need.nodes, min(need.least, need.nodes), MARK)
)


@given(needs, nodes_of_any_size)
def test_a_plan_never_overcommits_a_node_and_holds_what_it_must(need: Need, nodes: tuple[NodeFacts, ...]) -> None:
    outcome = fit(need, nodes)
    if isinstance(outcome, NoFit):
        assert outcome.fits < need.least
        return
    assert need.least <= sum(outcome.plan.values()) <= need.nodes
    before = {node.name: node for node in nodes}
    for node in occupied(nodes, outcome.plan, need.per_node):
        added = node.name in outcome.plan
        assert not added or (node.takes_tasks and node.capacity.covers(node.used))
        assert added or node == before[node.name]


@given(needs, nodes_of_any_size, st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_are_told_does_not_matter(
    need: Need, nodes: tuple[NodeFacts, ...], chance: st.DataObject
) -> None:
    mixed = list(nodes)
    chance.shuffle(mixed)  # type: ignore[attr-defined]  # st.randoms gives a random.Random
    assert fit(need, mixed) == fit(need, nodes)


@given(needs, nodes_of_any_size)
def test_whatever_could_fit_does(need: Need, nodes: tuple[NodeFacts, ...]) -> None:
    room = Counter({node.name: node.free.times_covering(need.per_node) for node in nodes}).total()
    assert isinstance(fit(need, nodes), Fit) == (room >= need.least or need.nodes == 0)
