"""Pods of a node that fell silent: the cluster calls them not ready and says nothing of their containers (F12)."""

from __future__ import annotations

from typing import Any

import pytest

from apps.tasks.kinds.base import InstanceState
from apps.tasks.kinds.pods import read_instance
from tests.support.observed import a_condition, a_pod, up

READY, NOT_READY = {**up(), "ready": True}, {**up(), "ready": False}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (a_pod("p", "Running", READY, conditions=[a_condition("Ready", "False")]), InstanceState.LOST),
        (a_pod("p", "Running", READY, conditions=[a_condition("Ready", "True")]), InstanceState.RUNNING),
        (a_pod("p", "Running", READY), InstanceState.RUNNING),
        (
            a_pod("p", "Running", NOT_READY, conditions=[a_condition("Ready", "False", reason="ContainersNotReady")]),
            InstanceState.RUNNING,
        ),
        (
            a_pod("p", "Running", READY, conditions=[a_condition("Ready", "False", reason="ReadinessGatesNotReady")]),
            InstanceState.RUNNING,
        ),
    ],
)
def test_a_ready_container_in_a_pod_that_is_not_ready_means_a_silent_node(
    pod: dict[str, Any], expected: InstanceState
) -> None:
    assert read_instance(pod).state is expected
