"""What was found out about a cluster, as rows: what is well, what is not, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.clusters.domain.checklist import Standing, Verdict, checklist, missing_rights, needs_full, renewed, verdict
from apps.clusters.domain.checklist_rows import Check, State, from_wire, wire
from apps.clusters.domain.checklist_words import COMMANDS, REMEDIES, SENTENCES, explained
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.rights import NEEDED, NEEDED_RIGHTS, Right
from apps.clusters.domain.survey import CertificateSeen, Failure, Survey
from apps.kernel.resources import MiB, Millicores

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
YEAR = timedelta(days=365)
CLASSES = {"platform-high": (1000, "Never")}
MARK = MarkFacts("rtx-4090", "nvidia.com/gpu", 8, Millicores(20_000), MiB(103_424), {"platform/mark": "rtx-4090"})
CARDS = {"nvidia.com/gpu": "8"}


def a_node(name: str, *, labels: Mapping[str, str] | None = None, capacity: Mapping[str, str] | None = None) -> Any:
    status = {"capacity": capacity or {}, "allocatable": capacity or {}, "conditions": [READY]}
    return {"metadata": {"name": name, "labels": labels or {}}, "status": status}


READY = {"type": "Ready", "status": "True"}
CLASS = {"metadata": {"name": "platform-high"}, "value": 1000, "preemptionPolicy": "Never"}
STORAGE = {"metadata": {"name": "ceph", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
WELL = Survey(
    address="10.0.0.1:6443",
    certificate=CertificateSeen(NOON + YEAR, ["10.0.0.1"], "CN=kubernetes"),
    version="v1.37.2",
    groups=frozenset({"v1", "batch/v1", "apps/v1", "kubeflow.org/v2beta1", "sparkoperator.k8s.io/v1beta2"}),
    denied=(),
    priority_classes=[CLASS],
    storage_classes=[STORAGE],
    nodes=[a_node("gpu-0", labels={"platform/mark": "rtx-4090"}, capacity=CARDS)],
    skew=0,
)


def rows(survey: Survey = WELL, **changes: Any) -> tuple[Check, ...]:
    return checklist(replace(survey, **changes), marks=[MARK], classes=CLASSES, now=NOON)


def wrong(checks: tuple[Check, ...]) -> list[tuple[str, str, str]]:
    return [(row.name, row.state.value, row.token) for row in checks if row.state is not State.OK]


def test_a_cluster_that_is_well_has_a_row_for_everything_and_no_remedy() -> None:
    found = rows()
    names = list(dict.fromkeys(row.name for row in found))
    assert (wrong(found), verdict(found)) == ([], Verdict.FITS)
    assert names == [
        *("api", "certificate", "clock", "credentials", "kubernetes", "capability", "right", "priority_class"),
        *("storage", "nodes", "mark"),
    ]
    assert [explained(row).command for row in found if explained(row).remedy] == []


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        (("certificate", "warn", "certificate_soon"), {"certificate": CertificateSeen(NOON + timedelta(days=13))}),
        (
            ("certificate", "warn", "certificate_unchecked"),
            {"certificate": CertificateSeen(NOON + YEAR, checked=False)},
        ),
        (("clock", "warn", "clock_off"), {"skew": -6}),
        (("clock", "warn", "clock_off"), {"skew": 6}),
        (("credentials", "warn", "credentials_soon"), {"until": NOON + timedelta(hours=1)}),
        (("capability", "fault", "not_served"), {"groups": WELL.groups - {"batch/v1"}}),  # type: ignore[operator]  # it is a set here
        (("capability", "warn", "operator_missing"), {"groups": WELL.groups - {"kubeflow.org/v2beta1"}}),  # type: ignore[operator]  # as above
        (("right", "fault", "denied"), {"denied": [Right("patch", "", "nodes")]}),
        (("right", "warn", "no_reviews"), {"denied": Failure("no_reviews")}),
        (("priority_class", "warn", "class_missing"), {"priority_classes": []}),
        (("priority_class", "warn", "class_differs"), {"priority_classes": [CLASS | {"value": 7}]}),
        (
            ("priority_class", "warn", "class_differs"),
            {"priority_classes": [CLASS | {"preemptionPolicy": "PreemptLowerPriority"}]},
        ),
        (("priority_class", "warn", "forbidden"), {"priority_classes": Failure("forbidden", "no")}),
        (("storage", "warn", "storage_none"), {"storage_classes": []}),
        (("storage", "warn", "storage_no_default"), {"storage_classes": [{"metadata": {"name": "ceph"}}]}),
        (("nodes", "warn", "nodes_none"), {"nodes": []}),
        (("nodes", "warn", "nodes_unready"), {"nodes": [{"metadata": {"name": "cpu-0"}}]}),
        (("nodes", "warn", "too_large"), {"nodes": Failure("too_large", "", {"limit": 64})}),
    ],
)
def test_one_thing_amiss_is_one_row_and_hides_nothing_else(
    expected: tuple[str, str, str], changes: dict[str, Any]
) -> None:
    found = rows(**changes)
    assert wrong(found) == [expected]
    assert {row.name for row in found} >= {"api", "kubernetes", "capability"}


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        (("api", "fault", "refused"), {"reached": Failure("refused", "", {"address": "10.0.0.1:1"})}),
        (("certificate", "fault", "other_host"), {"certificate": CertificateSeen(NOON, ["b"], "x", "other_host")}),
        (("certificate", "fault", "not_tls"), {"certificate": Failure("not_tls")}),
        (("credentials", "fault", "credentials_refused"), {"version": Failure("credentials_refused")}),
        (("credentials", "fault", "credentials_refused"), {"groups": Failure("credentials_refused")}),
        (("kubernetes", "fault", "not_kubernetes"), {"version": Failure("not_kubernetes", "<html>")}),
        (("kubernetes", "fault", "redirect"), {"version": Failure("redirect")}),
        (("kubernetes", "fault", "too_large"), {"version": Failure("too_large", "", {"limit": 64})}),
    ],
)
def test_behind_what_hides_the_rest_nothing_follows(expected: tuple[str, str, str], changes: dict[str, Any]) -> None:
    found = rows(**changes)
    assert (wrong(found), (found[-1].name, found[-1].token)) == ([expected], (expected[0], expected[2]))
    assert verdict(found) is (Verdict.UNREACHABLE if expected[0] == "api" else Verdict.UNFIT)


@pytest.mark.parametrize(
    ("expected", "found", "standing"),
    [
        ("identity", Verdict.FITS, Standing()),
        ("identity", Verdict.FITS, Standing("one")),
        ("another_cluster", Verdict.ANOTHER, Standing("two")),
        ("already_added", Verdict.UNFIT, Standing("", {"one": "beijing"})),
    ],
)
def test_whether_it_is_the_cluster_that_it_was(expected: str, found: Verdict, standing: Standing) -> None:
    survey = replace(WELL, identity="one")
    checks = checklist(survey, marks=[MARK], classes=CLASSES, now=NOON, standing=standing)
    closed = checklist(replace(survey, version=Failure("redirect")), marks=[], classes={}, now=NOON)
    assert (checks[-1].token, verdict(checks), closed[-1].name) == (expected, found, "kubernetes")


def test_cards_that_no_mark_accounts_for_are_named_with_the_labels_they_need() -> None:
    nodes = [
        a_node("gpu-0", capacity=CARDS),
        a_node("gpu-1", capacity=CARDS),
        a_node("x", capacity={"amd.com/gpu": "1"}),
    ]
    found = {row.token: explained(row) for row in rows(nodes=nodes) if row.state is not State.OK}
    assert sorted(found) == ["cards_unlabelled", "cards_without_mark"]
    assert found["cards_unlabelled"].sentence == (
        "nvidia.com/gpu on nodes with the labels of no mark, so nobody gets them: gpu-0, gpu-1 (2)."
    )
    assert found["cards_unlabelled"].command == "kubectl label node gpu-0 platform/mark=rtx-4090"


def test_a_mark_that_a_cluster_simply_does_not_have_is_no_fault() -> None:
    found = rows(nodes=[a_node("cpu-0")])
    assert (wrong(found), found[-1].token) == ([], "mark_absent")


def test_a_hostile_name_is_never_run_by_whoever_pastes_the_command() -> None:
    (row,) = [row for row in rows(storage_classes=[{"metadata": {"name": "a; rm -rf /"}}]) if row.name == "storage"]
    assert "annotate storageclass 'a; rm -rf /' " in explained(row).command


def test_a_denied_right_says_what_it_is_for() -> None:
    (row,) = [row for row in rows(denied=[Right("patch", "", "nodes")]) if row.state is State.FAULT]
    told = explained(row)
    assert str(told.sentence) == (
        "patch nodes is not allowed: free capacity is read off the nodes, and pools are node labels."
    )
    assert (told.command, missing_rights([row])) == ("kubectl apply -f deploy/rbac/platform.yaml", ["patch nodes"])


def test_a_light_survey_keeps_the_costly_rows_unless_a_fault_hides_them() -> None:
    before = rows()
    light = rows(denied=None, priority_classes=None, storage_classes=None, nodes=None)
    silent = rows(reached=Failure("timed_out"))
    assert {row.name for row in renewed(before, light)} == {row.name for row in before}
    assert renewed(before, silent) == silent
    assert (needs_full(before), needs_full(light), needs_full(silent), needs_full(())) == (False, True, True, True)


def test_rows_come_back_as_they_were_stored_and_odd_ones_not_at_all() -> None:
    found = rows(denied=[NEEDED_RIGHTS[0]])
    assert from_wire(wire(found)) == found
    odd: Any = [{"name": "x"}, 5, {"name": "x", "state": "new", "token": "t", "numbers": {}}]
    assert (from_wire(odd), from_wire(None)) == ((), ())


def test_every_token_has_words_and_every_command_a_sentence_before_it() -> None:
    assert set(REMEDIES) <= set(SENTENCES)
    assert set(COMMANDS) <= set(REMEDIES)
    assert all(explained(Check("api", State.FAULT, token, {})).sentence for token in (*SENTENCES, "of-tomorrow"))
    assert len(NEEDED_RIGHTS) == len(set(NEEDED_RIGHTS)) == sum(len(need.verbs) for need in NEEDED)


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["metadata", "status", "name"]), inner),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["metadata", "status", "spec", "value"]), JSON), max_size=3))
@settings(max_examples=150, deadline=None)
def test_objects_of_any_shape_give_rows_that_can_be_stored_and_read(items: Any) -> None:
    found = rows(nodes=items, priority_classes=items, storage_classes=items)
    assert all(explained(row).title for row in from_wire(wire(found)))
