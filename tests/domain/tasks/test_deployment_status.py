"""What a Deployment does (domain.md §11; F08, F10, F18, F30)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.domain.states import Intent, State
from apps.tasks.kinds.base import Observed, Outcome
from apps.tasks.kinds.deployment.status import status
from tests.support.observed import a_condition, a_deployment, a_pod, seen, up, waits

STUCK = a_condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="no progress in 600 s")
REFUSED = a_condition("ReplicaFailure", reason="FailedCreate", message="exceeded quota")
CRASH = a_pod("new", "Running", waits(reason="CrashLoopBackOff", restarts=3, exitCode=1), restart="Always")
PENDING = a_pod(
    "p", "Pending", node=None, conditions=[a_condition("PodScheduled", "False", reason="Unschedulable", message="0/2")]
)
DONE: dict[str, int] = {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}


def three(workload: Any, *pods: Any, **changes: Any) -> Observed:
    return seen(workload, *pods, **{"wanted_nodes": 3, **changes})


def told(observed: Observed) -> tuple[State, str]:
    found = status(observed)
    return found.state, found.reason


def test_it_runs_when_observed_updated_available_and_no_old_pod_is_left() -> None:
    found = status(three(a_deployment(**DONE), a_pod("a", "Running", up(), restart="Always")))
    assert (found.state, found.reason, found.nodes_ready) == (State.RUNNING, "", 3)
    assert found.numbers == {"updated": 3, "available": 3, "wanted": 3, "old": 0}


@pytest.mark.parametrize(
    ("changes", "pods", "expected"),
    [
        ({"observedGeneration": 4}, (), (State.UPDATING, "")),
        ({"observedGeneration": 4, "availableReplicas": None}, (), (State.UPDATING, "")),
        ({"updatedReplicas": 1}, (), (State.UPDATING, "")),
        ({"updatedReplicas": None}, (), (State.UPDATING, "")),
        ({"replicas": 4}, (), (State.UPDATING, "")),
        ({}, (a_pod("old", leaving=True, restart="Always"),), (State.UPDATING, "")),
        ({"updatedReplicas": 1}, (CRASH,), (State.UPDATING, "CrashLoopBackOff")),
        ({"updatedReplicas": 1}, (PENDING,), (State.UPDATING, "Unschedulable")),
        ({"updatedReplicas": 1, "conditions": [STUCK]}, (CRASH,), (State.DEGRADED, "UpdateStuck")),
        ({"availableReplicas": 2}, (), (State.UPDATING, "")),
        ({"availableReplicas": 2}, (CRASH,), (State.DEGRADED, "CrashLoopBackOff")),
        ({"availableReplicas": 2}, (PENDING,), (State.DEGRADED, "Unschedulable")),
        ({"availableReplicas": 2}, (a_pod("l", "Unknown"),), (State.DEGRADED, "NodeLost")),
        ({"availableReplicas": 2, "conditions": [REFUSED]}, (), (State.DEGRADED, "Rejected")),
    ],
)
def test_f10_it_is_done_only_when_it_is(
    changes: dict[str, Any], pods: tuple[Any, ...], expected: tuple[State, str]
) -> None:
    assert told(three(a_deployment(**{**DONE, **changes}), *pods)) == expected


def test_f10_a_stuck_update_tells_the_counts_and_the_container_to_blame() -> None:
    deployment = a_deployment(STUCK, **{**DONE, "replicas": 4, "updatedReplicas": 1})
    found = status(three(deployment, CRASH))
    assert found.numbers == {
        "updated": 1,
        "available": 3,
        "wanted": 3,
        "old": 3,
        "instance": "new",
        "container": "main",
        "init": False,
        "exit_code": 1,
        "restarts": 3,
    }
    assert found.nodes_ready == 3
    assert status(three(deployment)).text == "no progress in 600 s"


def test_f10_another_revision_than_the_wanted_is_still_updating() -> None:
    assert told(three(a_deployment(**DONE, revision=1), revision=2)) == (State.UPDATING, "")
    assert told(three(a_deployment(**DONE, revision=2), revision=2)) == (State.RUNNING, "")


def test_f30_a_scale_that_the_cluster_has_not_heard_of_is_updating() -> None:
    assert told(three(a_deployment(**DONE), wanted_nodes=5))[0] is State.UPDATING


@pytest.mark.parametrize(
    ("conditions", "pods", "reason"),
    [
        ((), (), "Starting"),
        ((), (a_pod("p", "Pending", waits()),), "Starting"),
        ((), (a_pod("p", "Pending", node=None),), "Starting"),
        ((), (CRASH,), "CrashLoopBackOff"),
        ((STUCK,), (), "UpdateStuck"),
        ((REFUSED,), (), "Rejected"),
    ],
)
def test_before_any_instance_serves_it_is_starting_and_says_why(
    conditions: tuple[Any, ...], pods: tuple[Any, ...], reason: str
) -> None:
    assert told(three(a_deployment(*conditions), *pods)) == (State.STARTING, reason)


def test_what_served_before_and_crashes_now_is_degraded_and_not_running() -> None:
    deployment = a_deployment(**{**DONE, "availableReplicas": 0, "readyReplicas": 0})
    assert told(three(deployment, CRASH, was_running=True)) == (State.DEGRADED, "CrashLoopBackOff")


@pytest.mark.parametrize(
    ("workload", "pods", "intent", "expected"),
    [
        (a_deployment(wanted=0), (), Intent.PAUSE, (State.PAUSED, "Paused")),
        (a_deployment(wanted=3), (), Intent.PAUSE, (State.PAUSING, "Terminating")),
        (a_deployment(wanted=0), (a_pod(leaving=True),), Intent.PAUSE, (State.PAUSING, "Terminating")),
        (None, (), Intent.PAUSE, (State.PAUSED, "Paused")),
        (a_deployment(wanted=0), (), Intent.RUN, (State.PAUSED, "ScaledToZero")),
        (a_deployment(wanted=0), (a_pod(leaving=True),), Intent.RUN, (State.PAUSING, "Terminating")),
        (None, (), Intent.RUN, (State.STARTING, "CreatingObjects")),
    ],
)
def test_f30_paused_and_scaled_to_zero_are_no_failure(
    workload: Any, pods: tuple[Any, ...], intent: Intent, expected: tuple[State, str]
) -> None:
    wanted = 0 if intent is Intent.RUN and workload is not None else 3
    assert told(seen(workload, *pods, intent=intent, wanted_nodes=wanted)) == expected


def test_f15_stopped_only_when_everything_is_gone() -> None:
    assert told(three(a_deployment(**DONE), intent=Intent.STOP)) == (State.STOPPING, "Terminating")
    found = status(three(None, intent=Intent.STOP))
    assert (found.state, found.outcome) == (State.STOPPED, Outcome.STOPPED)


counts = st.none() | st.integers(0, 6)


@given(counts, counts, counts, counts, st.integers(3, 6), st.booleans())
def test_f10_running_implies_all_the_conditions_of_done(
    replicas: int | None, updated: int | None, ready: int | None, available: int | None, seen_at: int, leaving: bool
) -> None:
    counted: dict[str, Any] = {
        "replicas": replicas,
        "readyReplicas": ready,
        "updatedReplicas": updated,
        "availableReplicas": available,
    }
    deployment = a_deployment(**(counted | {"observedGeneration": seen_at}))
    pods = (a_pod(leaving=True),) if leaving else ()
    done = updated == available == 3 and (replicas or 0) <= 3 and seen_at >= 5 and not leaving
    assert (status(three(deployment, *pods)).state is State.RUNNING) == done


@pytest.mark.parametrize("workload", [{}, {"spec": None, "status": None, "metadata": None}])
def test_f18_a_deployment_of_nulls_is_starting(workload: dict[str, Any]) -> None:
    assert told(seen(workload, None)) == (State.STARTING, "Starting")
