"""A container that cannot start says why: on its instance, on its task, in the reader's language (domain.md §11)."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from apps.tasks.domain.states import State
from apps.tasks.explanations import advice, instance_sentence, sentence
from apps.tasks.kinds.base import InstanceState
from apps.tasks.kinds.containers import START_FAULTS
from apps.tasks.kinds.deployment.status import status as deployment_status
from apps.tasks.kinds.job.status import status as job_status
from apps.tasks.kinds.pods import read_instance, read_instances, worst
from tests.support.observed import a_condition, a_deployment, a_job, a_pod, ended, seen, waits

S = InstanceState
WHY = 'exec: "trian": executable file not found in $PATH'
BACK_OFF = "back-off 10s restarting failed container"


@pytest.mark.parametrize("reason", ["StartError", "ContainerCannotRun", "RunContainerError"])
def test_a_job_whose_container_cannot_start_fails_with_the_message(reason: str) -> None:
    pod = a_pod("p", "Failed", ended("main", 128, reason=reason, message=WHY))
    found = job_status(seen(a_job(a_condition("Failed", reason="BackoffLimitExceeded"), failed=1), pod))
    assert (found.state, found.reason, found.text) == (State.FAILED, reason, WHY)
    assert found.numbers == {"failures": 1, "instance": "p", "container": "main", "init": False, "exit_code": 128}
    assert [(one.state, one.reason, one.message) for one in found.instances] == [(S.FAILED, reason, WHY)]


@pytest.mark.parametrize(
    "reason", ["CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PostStartHookError"]
)
@pytest.mark.parametrize(("workload", "status"), [(a_job(active=1), job_status), (a_deployment(), deployment_status)])
def test_a_container_that_waits_because_it_cannot_start_says_so(reason: str, workload: Any, status: Any) -> None:
    found = status(
        seen(workload, a_pod("ok", "Pending", waits()), a_pod("p", "Pending", waits("main", reason, message=WHY)))
    )
    assert (found.state, found.reason, found.text) == (State.STARTING, reason, WHY)
    assert (found.numbers["instance"], found.numbers["container"]) == ("p", "main")


@pytest.mark.parametrize("reason", ["InvalidImageName", "ErrImageNeverPull", "ImagePullBackOff"])
def test_an_image_that_cannot_be_had_says_why_on_the_task(reason: str) -> None:
    found = job_status(seen(a_job(active=1), a_pod("p", "Pending", waits("main", reason, message=WHY))))
    assert (found.reason, found.text, found.numbers["container"]) == ("ImagePull", WHY, "main")


@pytest.mark.parametrize(
    "container",
    [
        waits("main", "CrashLoopBackOff", message=BACK_OFF, restarts=3, exitCode=128, cause="StartError", words=WHY),
        ended("main", 128, reason="StartError", message=WHY) | {"restartCount": 3},
    ],
)
def test_a_service_that_cannot_start_tells_its_last_try_and_not_the_back_off(container: dict[str, Any]) -> None:
    found = deployment_status(seen(a_deployment(), a_pod("p", "Running", container, restart="Always")))
    assert (found.state, found.reason, found.text) == (State.STARTING, "CrashLoopBackOff", WHY)
    with translation.override("en"):
        told = sentence(found.reason, found.numbers)
    assert told == "Container main cannot start (StartError): tried again 3 times."


def test_an_init_container_that_cannot_start_is_told_like_any_other() -> None:
    found = read_instance(a_pod("p", "Failed", init=[ended("setup", 128, reason="StartError", message=WHY)]))
    assert (found.state, found.reason, found.message, found.exit_code) == (S.INIT_FAILED, "StartError", WHY, 128)


def test_a_container_that_runs_after_all_is_no_longer_one_that_cannot_start() -> None:
    running = {
        "name": "main",
        "restartCount": 1,
        "state": {"running": {}},
        "lastState": {"terminated": {"reason": "StartError", "exitCode": 128}},
    }
    pod = a_pod("p", "Running", running, waits("side", "CrashLoopBackOff", exitCode=128), restart="Always")
    found = deployment_status(seen(a_deployment(), pod))
    assert (found.numbers["container"], "fault" in found.numbers) == ("main", False)


@pytest.mark.parametrize("reason", sorted(START_FAULTS))
def test_every_fault_at_the_start_has_a_sentence_and_an_advice(reason: str) -> None:
    with translation.override("en"):
        assert sentence(reason, {"container": "main"}) == "Container main cannot start."
        assert advice(reason).startswith("Check the command")


def test_the_instance_names_container_and_fault_in_the_readers_language_and_keeps_the_clusters_words() -> None:
    row = {"name": "main", "state": "terminated", "exit_code": 128, "reason": "StartError", "cause": "StartError"}
    with translation.override("en"):
        english = instance_sentence("StartError", [row], WHY)
    with translation.override("zh-hans"):
        chinese = instance_sentence("StartError", [row], WHY)
    assert english == f"A container cannot start. container main: StartError, exit 128 – {WHY}"
    assert chinese == f"有容器无法启动。 容器 main：StartError，退出码 128 – {WHY}"


def test_a_pod_that_cannot_start_is_blamed_before_one_that_starts() -> None:
    pods = [a_pod("ok", "Pending", waits()), a_pod("bad", "Pending", waits("main", "CreateContainerError"))]
    found = worst(read_instances(pods))
    assert found is not None
    assert found.name == "bad"
