"""One pod as people should see it (domain.md §11; F08, F09, F11, F12, F18)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.kinds.base import ContainerStatus, InstanceState, InstanceStatus
from apps.tasks.kinds.containers import exit_words, told_by
from apps.tasks.kinds.pods import blamed, holding, read_instance, read_instances, worst
from tests.support.observed import a_condition, a_pod, ended, up, waits

S = InstanceState
LEAVING_SCHEDULER = a_condition("DisruptionTarget", reason="PreemptionByScheduler", message="preempting to accommodate")


def verdict(pod: dict[str, Any]) -> tuple[InstanceState, str, str]:
    found = read_instance(pod)
    return found.state, found.reason, found.message


def test_a_running_pod_is_read_whole() -> None:
    assert read_instance(a_pod("p-1", "Running", up(restarts=2))) == InstanceStatus(
        uid="uid-p-1",
        name="p-1",
        node="n1",
        state=S.RUNNING,
        restarts=2,
        containers=(ContainerStatus("main", "running", 2),),
        started_at=datetime(2026, 12, 1, 12, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (a_pod("p", "Pending", node=None), (S.PENDING, "", "")),
        (
            a_pod(
                "p",
                "Pending",
                node=None,
                conditions=[a_condition("PodScheduled", "False", reason="Unschedulable", message="0/2 nodes")],
            ),
            (S.PENDING, "Unschedulable", "0/2 nodes"),
        ),
        (a_pod("p", "Pending", waits()), (S.STARTING, "Starting", "")),
        (a_pod("p", "Pending"), (S.STARTING, "Starting", "")),
        (a_pod("p", "Running", waits(), up("b")), (S.STARTING, "Starting", "")),
        (a_pod("p", "Running"), (S.RUNNING, "", "")),
        (a_pod("p", "Running", ended("a", 0), up("b")), (S.RUNNING, "", "")),
        (a_pod("p", "Succeeded", ended()), (S.SUCCEEDED, "", "")),
        (a_pod("p", "Succeeded", ended(), leaving=True), (S.SUCCEEDED, "", "")),
        (a_pod("p", "Unknown", up()), (S.LOST, "NodeLost", "")),
        (
            a_pod("p", "Running", waits(reason="CreateContainerConfigError", message="no secret")),
            (S.STARTING, "CreateContainerConfigError", "no secret"),
        ),
    ],
)
def test_a_pod_on_its_way_or_well(pod: dict[str, Any], expected: tuple[InstanceState, str, str]) -> None:
    assert verdict(pod) == expected


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"])
def test_an_image_that_cannot_be_pulled_is_never_running(reason: str) -> None:
    pod = a_pod("p", "Pending", up("a"), waits("b", reason, message="not found"))
    assert verdict(pod) == (S.IMAGE_PULL, "ImagePull", "not found")


def test_a_crash_loop_shows_restarts_and_the_last_exit_code() -> None:
    pod = a_pod(
        "p",
        "Running",
        up("a"),
        waits("b", "CrashLoopBackOff", restarts=4, exitCode=137, cause="OOMKilled"),
        restart="Always",
    )
    found = read_instance(pod)
    assert (found.state, found.reason, found.restarts, found.exit_code) == (S.CRASH_LOOP, "CrashLoopBackOff", 4, 137)
    assert told_by(found.containers[1]) == (
        "container b: CrashLoopBackOff, exit 137 (killed: out of memory), 4 restarts"
    )


def test_a_service_between_an_end_and_its_restart_is_not_running() -> None:
    pod = a_pod("p", "Running", ended("main", 1), restart="Always")
    assert verdict(pod) == (S.CRASH_LOOP, "CrashLoopBackOff", "")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("phase", ["Running", "Failed"])
def test_one_failed_container_of_several_fails_the_pod_in_either_order(first: bool, phase: str) -> None:
    broken, other = ended("bad", 3), (up("ok") if phase == "Running" else ended("ok", 0))
    found = read_instance(a_pod("p", phase, *((broken, other) if first else (other, broken))))
    assert (found.state, found.reason, blamed(found)["container"], found.exit_code) == (
        S.FAILED,
        "ContainerFailed",
        "bad",
        3,
    )


def test_the_container_that_failed_first_is_named_not_the_one_it_took_along() -> None:
    late, early = ended("a", 143, at="2026-12-01T12:00:09Z"), ended("b", 1, at="2026-12-01T12:00:01Z")
    assert blamed(read_instance(a_pod("p", "Failed", late, early)))["container"] == "b"


def test_out_of_memory_is_told_in_words() -> None:
    pod = a_pod("p", "Failed", ended("main", 137, reason="OOMKilled"))
    assert verdict(pod) == (S.FAILED, "OOMKilled", "")
    assert told_by(read_instance(pod).containers[0]) == "container main: exit 137 (killed: out of memory)"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "exit 1"),
        (128, "exit 128"),
        (137, "exit 137 (killed)"),
        (139, "exit 139 (segmentation fault)"),
        (143, "exit 143 (asked to end)"),
        (160, "exit 160 (signal 32)"),
        (255, "exit 255"),
    ],
)
def test_signals_are_told_in_words(code: int, words: str) -> None:
    assert exit_words(code) == words


def test_f09_a_failed_init_container_is_named() -> None:
    pod = a_pod("p", "Failed", waits(reason="PodInitializing"), init=[ended("setup", 1)])
    assert verdict(pod) == (S.INIT_FAILED, "InitContainerFailed", "")
    assert told_by(read_instance(pod).containers[0]) == "init container setup: exit 1"


def test_f09_an_init_container_that_backs_off_is_shown_so() -> None:
    pod = a_pod(
        "p",
        "Pending",
        waits(reason="PodInitializing"),
        init=[waits("setup", "CrashLoopBackOff", restarts=2, exitCode=1)],
    )
    assert verdict(pod) == (S.CRASH_LOOP, "CrashLoopBackOff", "")
    assert told_by(read_instance(pod).containers[0]) == "init container setup: CrashLoopBackOff, exit 1, 2 restarts"


@pytest.mark.parametrize("phase", ["Pending", "Running", "Failed"])
def test_f08_a_pod_being_removed_is_terminating_whatever_its_phase(phase: str) -> None:
    assert verdict(a_pod("p", phase, up(), leaving=True)) == (S.TERMINATING, "Terminating", "")


def test_f12_a_suspended_pod_that_ends_by_the_signal_is_leaving_and_no_failure() -> None:
    found = read_instance(a_pod("p", "Failed", ended("main", 143), leaving=True))
    assert (found.state, found.reason, found.exit_code) == (S.TERMINATING, "Terminating", 143)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (
            a_pod("p", "Failed", status={"reason": "Evicted", "message": "low on memory"}),
            (S.EVICTED, "Evicted", "low on memory"),
        ),
        (
            a_pod("p", "Failed", ended("main", 137), conditions=[LEAVING_SCHEDULER]),
            (S.PREEMPTED, "Preempted", "preempting to accommodate"),
        ),
        (a_pod("p", "Running", up(), conditions=[LEAVING_SCHEDULER], leaving=True), (S.TERMINATING, "Preempted", "")),
        (
            a_pod("p", "Failed", conditions=[a_condition("DisruptionTarget", reason="EvictionByEvictionAPI")]),
            (S.EVICTED, "Evicted", ""),
        ),
        (a_pod("p", "Failed", conditions=[a_condition("DisruptionTarget")]), (S.EVICTED, "Evicted", "")),
        (
            a_pod("p", "Failed", ended("main", 1), conditions=[a_condition("DisruptionTarget", "False")]),
            (S.FAILED, "ContainerFailed", ""),
        ),
        (a_pod("p", "Running", up(), status={"reason": "NodeLost"}, leaving=True), (S.LOST, "NodeLost", "")),
    ],
)
def test_f11_eviction_preemption_and_a_lost_node_are_told_from_failure(
    pod: dict[str, Any], expected: tuple[InstanceState, str, str]
) -> None:
    assert verdict(pod) == expected


def test_a_pod_that_failed_without_a_container_says_what_the_kubelet_says() -> None:
    deadline = a_pod("p", "Failed", status={"reason": "DeadlineExceeded", "message": "too long"})
    assert verdict(deadline) == (S.FAILED, "DeadlineExceeded", "too long")
    assert verdict(a_pod("p", "Failed")) == (S.FAILED, "ContainerFailed", "")


NULLS: list[Any] = [
    {},
    {"metadata": None, "spec": None, "status": None},
    {"metadata": {"name": None}, "status": {"conditions": None, "containerStatuses": None}},
    {
        "status": {
            "conditions": [None, 5],
            "containerStatuses": [None, {"name": None, "state": None, "restartCount": None}],
        }
    },
    {"status": {"phase": 5, "startTime": "yesterday", "containerStatuses": "none"}},
    {"status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {}}, "lastState": None}]}},
]


@pytest.mark.parametrize("pod", NULLS)
def test_f18_null_fields_count_as_empty(pod: dict[str, Any]) -> None:
    found = read_instance(pod)
    assert (found.name, found.uid, found.node, found.started_at) == ("", "", "", None)


def test_f18_what_is_no_object_among_the_pods_is_left_out() -> None:
    assert [one.name for one in read_instances([None, a_pod("a"), 5, a_pod("b")])] == ["a", "b"]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "status", "spec", "phase", "conditions", "containerStatuses", "state", "terminated"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), json))
def test_f18_any_json_is_read_to_some_state(pod: dict[str, Any]) -> None:
    assert isinstance(read_instance(pod).state, InstanceState)


def test_messages_from_a_pod_are_bounded_and_free_of_control_characters() -> None:
    hostile = "\x1b[31m\x00" + "x" * 10_000
    message = read_instance(a_pod("p", "Failed", status={"reason": "Evicted", "message": hostile})).message
    assert message == " [31m " + "x" * 994


def test_a_time_without_a_zone_is_read_as_utc() -> None:
    assert read_instance(a_pod(status={"startTime": "2026-12-01T12:00:00"})).started_at == datetime(
        2026, 12, 1, 12, tzinfo=UTC
    )


def test_only_ended_pods_hold_nothing() -> None:
    pods = [
        a_pod("a", "Succeeded"),
        a_pod("b", "Failed"),
        a_pod("c", "Running", leaving=True),
        a_pod("d", "Pending"),
        None,
    ]
    assert holding(pods) == 2


def test_the_worst_instance_is_the_one_to_act_on() -> None:
    pods = [
        a_pod("ok", "Running", up()),
        a_pod("pull", "Pending", waits(reason="ErrImagePull")),
        a_pod("gone", "Unknown"),
    ]
    assert worst(read_instances(pods)) == read_instance(pods[1])
    assert worst(()) is None


def test_the_blame_names_container_exit_code_and_restarts() -> None:
    pod = a_pod("p", "Running", waits("main", "CrashLoopBackOff", restarts=3, exitCode=2), restart="Always")
    assert blamed(read_instance(pod)) == {
        "instance": "p",
        "container": "main",
        "init": False,
        "exit_code": 2,
        "restarts": 3,
    }
    assert blamed(read_instance(a_pod("p", "Pending", node=None))) == {"instance": "p"}


def test_an_image_that_cannot_be_pulled_is_blamed_on_its_container() -> None:
    pod = a_pod("p", "Pending", waits("side", "ImagePullBackOff"))
    assert blamed(read_instance(pod)) == {"instance": "p", "container": "side", "init": False}


def test_a_waiting_container_without_a_past_is_told_by_its_reason() -> None:
    assert told_by(ContainerStatus("main", "waiting", reason="ErrImagePull")) == "container main: ErrImagePull"
