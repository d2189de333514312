"""What a Job does (domain.md §11; F08, F09, F11, F12, F14, F18)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.domain.states import FINAL, Intent, State
from apps.tasks.kinds.base import Observed, Outcome, Status
from apps.tasks.kinds.job.status import status
from tests.support.observed import a_condition, a_job, a_pod, ended, seen, up, waits

COMPLETE = a_condition("Complete")
EVICTED = a_pod("a", "Failed", status={"reason": "Evicted"})


def told(observed: Observed) -> tuple[State, str, dict[str, object]]:
    found = status(observed)
    return found.state, found.reason, dict(found.numbers)


def failed(reason: str = "BackoffLimitExceeded", message: str = "") -> dict[str, Any]:
    return a_condition("Failed", reason=reason, message=message)


def test_a_job_that_was_just_created_is_starting() -> None:
    assert status(seen(a_job())) == Status(State.STARTING, "Starting", {"running": 0, "wanted": 1})


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (seen(None), (State.STARTING, "CreatingObjects", {})),
        (seen(None, seen_before=True), (State.STARTING, "ObjectsGone", {})),
        (seen(a_job(suspend=True)), (State.STARTING, "CreatingObjects", {"running": 0, "wanted": 1})),
        (
            seen(a_job(active=1), a_pod("a", "Pending", waits())),
            (State.STARTING, "Starting", {"running": 0, "wanted": 1, "instance": "a"}),
        ),
        (
            seen(a_job(active=1), a_pod("a", "Pending", waits(reason="ImagePullBackOff"))),
            (
                State.STARTING,
                "ImagePull",
                {"running": 0, "wanted": 1, "instance": "a", "container": "main", "init": False},
            ),
        ),
        (seen(a_job(active=1), a_pod("a", "Running", up())), (State.RUNNING, "", {"running": 1, "wanted": 1})),
        (
            seen(a_job(active=1), a_pod("a", "Succeeded", ended())),
            (State.RUNNING, "", {"running": 0, "wanted": 1}),
        ),
    ],
)
def test_a_job_on_its_way(observed: Observed, expected: tuple[State, str, dict[str, object]]) -> None:
    assert told(observed) == expected


def test_some_pods_running_beside_a_waiting_one_is_running_with_the_others_reason() -> None:
    observed = seen(a_job(active=2), a_pod("a", "Running", up()), a_pod("b", "Pending", waits(reason="ErrImagePull")))
    found = status(observed)
    assert (found.state, found.reason, found.nodes_ready, len(found.instances)) == (State.RUNNING, "ImagePull", 1, 2)


def test_f11_an_evicted_attempt_does_not_fail_a_job_that_completed() -> None:
    job = a_job(COMPLETE, succeeded=1, failed=1)
    found = status(seen(job, EVICTED, a_pod("b", "Succeeded", ended())))
    assert (found.state, found.outcome, found.text) == (State.SUCCEEDED, Outcome.SUCCEEDED, "")
    assert found.numbers == {"evicted": 1}
    assert status(seen(job, EVICTED, EVICTED)).numbers == {"evicted": 2}


@pytest.mark.parametrize("pods", [(), (a_pod("a", "Failed", ended(code=1)), a_pod("b", "Running", up()))])
def test_f11_f14_a_retry_is_running_with_its_attempt_and_never_failed(pods: tuple[Any, ...]) -> None:
    state, reason, numbers = told(seen(a_job(active=1, failed=1), *pods))
    assert (state, reason, numbers["attempt"]) == (State.RUNNING, "Restarting", 2)


def test_f11_between_two_tries_the_job_is_still_running() -> None:
    state, reason, numbers = told(seen(a_job(active=0, failed=1), a_pod("a", "Failed", ended(code=2))))
    assert (state, reason) == (State.RUNNING, "Restarting")
    assert (numbers["attempt"], numbers["container"], numbers["exit_code"]) == (2, "main", 2)


def test_a_retry_whose_image_cannot_be_pulled_is_not_shown_as_running() -> None:
    pods = (a_pod("a", "Failed", ended(code=2)), a_pod("b", "Pending", waits(reason="ErrImagePull")))
    assert told(seen(a_job(active=1, failed=1), *pods))[:2] == (State.STARTING, "ImagePull")


def test_a_container_that_failed_beside_a_running_one_is_named_while_the_job_goes_on() -> None:
    state, reason, numbers = told(seen(a_job(active=1), a_pod("a", "Running", ended("bad", 3), up("ok"))))
    assert (state, reason, numbers["container"], numbers["exit_code"]) == (State.RUNNING, "ContainerFailed", "bad", 3)


def test_f09_a_failed_job_names_its_init_container_and_exit_code() -> None:
    pod = a_pod("a", "Failed", waits(reason="PodInitializing"), init=[ended("setup", 1)])
    found = status(seen(a_job(failed(), failed=1), pod))
    assert (found.state, found.reason, found.outcome) == (State.FAILED, "InitContainerFailed", Outcome.FAILED)
    assert found.numbers == {"failures": 1, "instance": "a", "container": "setup", "init": True, "exit_code": 1}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (failed(), (State.FAILED, "BackoffLimitExceeded", {"failures": 5})),
        (failed("DeadlineExceeded"), (State.FAILED, "DeadlineExceeded", {"failures": 5, "seconds": 60})),
        (failed("MaxFailedIndexesExceeded"), (State.FAILED, "MaxFailedIndexesExceeded", {"failures": 5})),
        (failed(""), (State.FAILED, "BackoffLimitExceeded", {"failures": 5})),
    ],
)
def test_a_job_fails_by_its_own_condition(
    condition: dict[str, Any], expected: tuple[State, str, dict[str, object]]
) -> None:
    assert told(seen(a_job(condition, failed=5))) == expected


@pytest.mark.parametrize("condition", ["FailureTarget", "SuccessCriteriaMet"])
def test_a_verdict_in_the_making_is_no_end(condition: str) -> None:
    assert status(seen(a_job(a_condition(condition)), a_pod("a", "Running", up()))).outcome is None


@pytest.mark.parametrize(
    ("job", "pods", "expected"),
    [
        (a_job(suspend=True), (), (State.PAUSED, "Paused", {})),
        (None, (), (State.PAUSED, "Paused", {})),
        (None, (a_pod("a", "Running", leaving=True),), (State.PAUSING, "Terminating", {"pods": 1})),
        (a_job(), (), (State.PAUSING, "Terminating", {"pods": 1})),
        (a_job(suspend=True, terminating=2), (), (State.PAUSING, "Terminating", {"pods": 2})),
        (
            a_job(suspend=True),
            (a_pod("a", "Running", leaving=True),),
            (State.PAUSING, "Terminating", {"pods": 1}),
        ),
        (a_job(suspend=True), (a_pod("a", "Failed", ended(code=143)),), (State.PAUSED, "Paused", {})),
        (a_job(COMPLETE, suspend=False), (), (State.SUCCEEDED, "", {})),
    ],
)
def test_f12_pausing_until_no_pod_remains_then_paused(
    job: Any, pods: tuple[Any, ...], expected: tuple[State, str, dict[str, object]]
) -> None:
    assert told(seen(job, *pods, intent=Intent.PAUSE)) == expected


@pytest.mark.parametrize(
    ("job", "pods", "state", "outcome"),
    [
        (a_job(), (a_pod(),), State.STOPPING, None),
        (a_job(), (), State.STOPPING, None),
        (None, (a_pod(leaving=True),), State.STOPPING, None),
        (None, (a_pod("a", "Failed"),), State.STOPPED, Outcome.STOPPED),
        (None, (), State.STOPPED, Outcome.STOPPED),
        (a_job(COMPLETE), (), State.SUCCEEDED, Outcome.SUCCEEDED),
    ],
)
def test_f15_stopping_until_workload_and_pods_are_seen_gone(
    job: Any, pods: tuple[Any, ...], state: State, outcome: Outcome | None
) -> None:
    found = status(seen(job, *pods, intent=Intent.STOP))
    assert (found.state, found.outcome) == (state, outcome)


phases = st.sampled_from(["Pending", "Running", "Succeeded", "Failed", "Unknown", None])
pods = st.builds(
    lambda phase, codes, leaving: a_pod("p", phase, *(ended(f"c{code}", code) for code in codes), leaving=leaving),
    phases,
    st.lists(st.integers(0, 255), max_size=3),
    st.booleans(),
)


@given(st.lists(pods, max_size=5), st.sampled_from([Intent.RUN, Intent.PAUSE]), st.integers(0, 9))
def test_f11_no_pods_whatever_their_phases_end_a_job(found: list[Any], intent: Intent, count: int) -> None:
    told_status = status(seen(a_job(failed=count, active=count), *found, intent=intent))
    assert (told_status.state in FINAL, told_status.outcome) == (False, None)


@given(st.lists(pods, max_size=5), st.sampled_from(Intent), st.sampled_from(["Complete", "Failed"]))
def test_f11_its_own_condition_ends_a_job_whatever_its_pods_do(found: list[Any], intent: Intent, kind: str) -> None:
    assert status(seen(a_job(a_condition(kind)), *found, intent=intent)).outcome in {Outcome.SUCCEEDED, Outcome.FAILED}


@pytest.mark.parametrize("job", [{}, {"spec": None, "status": None}, {"status": {"conditions": None, "failed": None}}])
def test_f18_a_job_of_nulls_is_starting(job: dict[str, Any]) -> None:
    assert status(seen(job, None)).state is State.STARTING
