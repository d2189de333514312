"""The advanced part: Kubernetes' own words, whitelisted and shape-checked (rest.md)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.domain.advanced import read_advanced
from apps.tasks.domain.reading import Faults

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EXPRESSION = {"key": "zone", "operator": "In", "values": ["a", "b"]}
POD_TERM = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}

WHOLE: dict[str, Any] = {
    "node_selector": {"disk": "nvme"},
    "annotations": {"sidecar.istio.io/inject": "false"},
    "tolerations": [
        {"key": "team", "operator": "Equal", "value": "map", "effect": "NoSchedule"},
        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
    ],
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [EXPRESSION]}]},
            PREFERRED: [
                {"weight": 5, "preference": {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}}
            ],
        },
        "podAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": POD_TERM}]},
        "podAntiAffinity": {
            REQUIRED: [
                {
                    "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                    "topologyKey": "zone",
                }
            ]
        },
    },
    "host_aliases": [{"ip": "10.0.0.1", "hostnames": ["db.example"]}, {"ip": "::1", "hostnames": ["v6"]}],
    "termination_grace_period_seconds": 0,
    "progress_deadline_seconds": 600,
    "max_surge": "25%",
    "max_unavailable": 0,
}


def read(given_value: object) -> tuple[dict[str, Any], list[str]]:
    faults = Faults()
    return read_advanced(given_value, "advanced", faults), list(faults.by_path)


def test_everything_that_is_offered_is_read_and_reads_back() -> None:
    plain, faults = read(WHOLE)
    assert (plain, faults) == (WHOLE, [])
    assert read(plain) == (WHOLE, [])


def test_kubernetes_own_spelling_of_the_names_is_taken_too() -> None:
    plain, faults = read({"terminationGracePeriodSeconds": 60, "hostAliases": [{"ip": "::1", "hostnames": ["a"]}]})
    assert (plain, faults) == (
        {"termination_grace_period_seconds": 60, "host_aliases": [{"ip": "::1", "hostnames": ["a"]}]},
        [],
    )


@pytest.mark.parametrize("empty", [None, {}, {"tolerations": [], "affinity": {}, "annotations": None}])
def test_nothing_stays_nothing(empty: object) -> None:
    assert read(empty) == ({}, [])


def node_term(**changes: Any) -> dict[str, Any]:
    return {
        "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [EXPRESSION | changes]}]}}}
    }


def pod_term(**changes: Any) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {REQUIRED: [{**POD_TERM, **changes}]}}}


NODE = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
POD = f"affinity.podAntiAffinity.{REQUIRED}.0"


@pytest.mark.parametrize(
    ("advanced", "path"),
    [
        ({"hostNetwork": True}, "host_network"),
        ({"privileged": True}, "privileged"),
        ({5: 1}, "5"),
        ({"node_selector": {"platform/pool": "other"}}, "node_selector.platform/pool"),
        ({"annotations": {"platform/revision": "9"}}, "annotations.platform/revision"),
        ({"annotations": {"a": 1}}, "annotations.a"),
        ({"annotations": {"a": "x" * 40_000}}, "annotations.a"),
        ({"tolerations": {}}, "tolerations"),
        ({"tolerations": [{}]}, "tolerations.0.key"),
        ({"tolerations": [{"key": "a b", "operator": "Exists"}]}, "tolerations.0.key"),
        ({"tolerations": [{"operator": "Exists", "value": "x"}]}, "tolerations.0.value"),
        ({"tolerations": [{"operator": "Exists", "tolerationSeconds": 5}]}, "tolerations.0.tolerationSeconds"),
        ({"tolerations": [{"key": "a", "operator": "Like"}]}, "tolerations.0.operator"),
        ({"tolerations": [{"operator": "Exists", "effect": "Never"}]}, "tolerations.0.effect"),
        ({"affinity": []}, "affinity"),
        ({"affinity": {"nodeAffinity": {REQUIRED: {}}}}, NODE),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}}, f"{NODE}.0.matchExpressions"),
        (node_term(values=[]), f"{NODE}.0.matchExpressions.0.values"),
        (node_term(values=["a b"]), f"{NODE}.0.matchExpressions.0.values"),
        (node_term(operator="Exists"), f"{NODE}.0.matchExpressions.0.values"),
        (node_term(operator="Gt", values=["many"]), f"{NODE}.0.matchExpressions.0.values"),
        (node_term(operator=None), f"{NODE}.0.matchExpressions.0.operator"),
        (node_term(key=None), f"{NODE}.0.matchExpressions.0.key"),
        (
            {"affinity": {"nodeAffinity": {PREFERRED: [{"preference": {"matchExpressions": [EXPRESSION]}}]}}},
            f"affinity.nodeAffinity.{PREFERRED}.0.weight",
        ),
        (pod_term(topologyKey=None), f"{POD}.topologyKey"),
        (pod_term(namespaces=["other"]), f"{POD}.namespaces"),
        (pod_term(namespaceSelector={}), f"{POD}.namespaceSelector"),
        (
            pod_term(labelSelector={"matchExpressions": [{"key": "a", "operator": "Lt", "values": ["1"]}]}),
            f"{POD}.labelSelector.matchExpressions.0.operator",
        ),
        ({"host_aliases": [{"ip": "999.0.0.1", "hostnames": ["a"]}]}, "host_aliases.0.ip"),
        ({"host_aliases": [{"ip": "::1", "hostnames": []}]}, "host_aliases.0.hostnames"),
        ({"host_aliases": [{"ip": "::1", "hostnames": ["A_b"]}]}, "host_aliases.0.hostnames"),
        ({"termination_grace_period_seconds": -1}, "termination_grace_period_seconds"),
        ({"progress_deadline_seconds": 0}, "progress_deadline_seconds"),
        ({"max_surge": "101%"}, "max_surge"),
        ({"max_surge": True}, "max_surge"),
        ({"max_surge": -1}, "max_surge"),
        ({"max_surge": 0, "max_unavailable": "0%"}, "max_unavailable"),
    ],
)
def test_a_fault_is_named_by_its_path(advanced: dict[Any, Any], path: str) -> None:
    assert read(advanced)[1] == [f"advanced.{path}"]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([REQUIRED, PREFERRED, "nodeAffinity", "key", "operator", "values"]), inner)
    ),
)


@given(st.dictionaries(st.sampled_from([*WHOLE]), json))
def test_any_json_is_read_to_something_that_reads_back_or_is_refused(advanced: dict[str, Any]) -> None:
    plain, faults = read(advanced)
    assert faults or read(plain) == (plain, [])
