"""Jobs from creation to their end, with a played node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.devkube.embedded.kit import FakeKubelet, Kube, container, job, until

pytestmark = pytest.mark.usefixtures("kubelet")


def conditions(kube: Kube, name: str) -> dict[str, str]:
    found = kube.get("jobs", name)["status"].get("conditions", [])
    return {each["type"]: each["reason"] for each in found if each["status"] == "True"}


def ended(kube: Kube, name: str) -> dict[str, Any]:
    until(lambda: {"Complete", "Failed"} & set(conditions(kube, name)))
    return dict(kube.get("jobs", name)["status"])


def pods(kube: Kube, name: str) -> list[dict[str, Any]]:
    return kube.list("pods", labelSelector=f"job-name={name}")


def test_gets_selector_labels_and_defaults(kube: Kube) -> None:
    made = kube.make("jobs", job("born", suspend=True))
    uid, body = made["metadata"]["uid"], made["spec"]
    chosen = ("backoffLimit", "completions", "parallelism", "completionMode", "podReplacementPolicy")
    assert [body[key] for key in chosen] == [6, 1, 1, "NonIndexed", "TerminatingOrFailed"]
    assert body["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert body["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "born",
        "controller-uid": uid,
        "job-name": "born",
    }


def test_completes_when_enough_pods_succeeded(kube: Kube) -> None:
    kube.make("jobs", job("three", completions=3, parallelism=2))
    state = ended(kube, "three")
    assert (state["succeeded"], state.get("failed", 0), state.get("active", 0)) == (3, 0, 0)
    assert conditions(kube, "three") == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert state["startTime"] <= state["completionTime"]
    assert {"SuccessfulCreate", "Completed", "Scheduled"} <= kube.reasons()
    assert all("finalizers" not in pod["metadata"] for pod in pods(kube, "three"))


def test_fails_after_its_backoff_limit(kube: Kube) -> None:
    kube.make("jobs", job("broken", plays="fail", backoffLimit=1))
    state = ended(kube, "broken")
    assert (state["failed"], state.get("succeeded", 0)) == (2, 0)
    assert conditions(kube, "broken") == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    assert "BackoffLimitExceeded" in kube.reasons()


def test_a_failed_pod_is_not_the_end_of_its_job(kube: Kube) -> None:
    """F11: backoffLimit 4, one failed pod, the next one runs."""
    kube.make("jobs", job("again", plays="fail", backoffLimit=4))
    until(lambda: kube.get("jobs", "again")["status"].get("failed", 0) >= 1)
    assert conditions(kube, "again") == {}


def test_runs_each_index_once(kube: Kube) -> None:
    kube.make("jobs", job("indexed", completions=3, parallelism=3, completionMode="Indexed"))
    assert ended(kube, "indexed")["completedIndexes"] == "0-2"
    found = {
        pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]: pod for pod in pods(kube, "indexed")
    }
    assert set(found) == {"0", "1", "2"}
    assert found["2"]["spec"]["hostname"] == "indexed-2"
    assert found["2"]["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"


def test_suspends_and_resumes(kube: Kube) -> None:
    kube.make("jobs", job("paused", plays="run"))
    path = kube.path("jobs", "paused")
    until(lambda: kube.get("jobs", "paused")["status"].get("ready") == 1)
    kube.patch(path, {"spec": {"suspend": True}})
    until(lambda: conditions(kube, "paused") == {"Suspended": "JobSuspended"} and not pods(kube, "paused"))
    state = kube.get("jobs", "paused")["status"]
    assert (state.get("active", 0), state.get("failed", 0)) == (0, 0)
    kube.patch(path, {"spec": {"suspend": False}})
    until(lambda: kube.get("jobs", "paused")["status"].get("ready") == 1)
    (condition,) = kube.get("jobs", "paused")["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "JobResumed")
    assert {"Suspended", "Resumed"} <= kube.reasons()


def test_born_suspended_has_no_pods_and_no_start(kube: Kube) -> None:
    kube.make("jobs", job("later", suspend=True))
    until(lambda: conditions(kube, "later"))
    assert "startTime" not in kube.get("jobs", "later")["status"]
    assert pods(kube, "later") == []


def test_its_template_is_fixed_but_for_placement_while_suspended(kube: Kube) -> None:
    kube.make("jobs", job("fixed", suspend=True))
    path = kube.path("jobs", "fixed")
    moved = {"spec": {"template": {"spec": {"nodeSelector": {"pool": "a"}}}}}
    assert kube.patch(path, moved).status_code == 200
    image = {"spec": {"template": {"spec": {"containers": [container(image="busybox:2")]}}}}
    refused = kube.patch(path, image)
    assert (refused.status_code, "spec.template" in refused.json()["message"]) == (422, True)
    assert "field is immutable" in refused.json()["message"]
    assert kube.patch(path, {"spec": {"completions": 4}}).status_code == 422
    assert kube.patch(path, {"spec": {"parallelism": 0}}).status_code == 200


@pytest.mark.parametrize("policy", [None, "Always", "Sometimes"])
def test_wants_a_restart_policy_that_ends(kube: Kube, policy: str | None) -> None:
    body = job("endless")
    body["spec"]["template"]["spec"]["restartPolicy"] = policy
    answer = kube.post(kube.path("jobs"), body)
    assert answer.status_code == 422
    said = 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    assert said in answer.json()["message"]


def test_ends_at_its_deadline(kube: Kube) -> None:
    kube.make("jobs", job("slow", plays="run", activeDeadlineSeconds=1))
    ended(kube, "slow")
    assert conditions(kube, "slow") == {"FailureTarget": "DeadlineExceeded", "Failed": "DeadlineExceeded"}
    assert pods(kube, "slow") == []


def test_goes_when_its_time_to_live_is_over(kube: Kube) -> None:
    kube.make("jobs", job("brief", ttlSecondsAfterFinished=0))
    until(lambda: kube.gone("jobs", "brief") and not pods(kube, "brief"))


def test_preemption_costs_no_retry_when_the_policy_says_so(kube: Kube) -> None:
    """F12: pods that a disruption took are not counted against backoffLimit."""
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    kube.make("jobs", job("low", plays="run", backoffLimit=0, podFailurePolicy={"rules": [rule]}))
    (pod,) = until(lambda: [each for each in pods(kube, "low") if each["status"]["phase"] == "Running"])
    taken = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    state = {"status": {"phase": "Failed", "conditions": [taken]}}
    kube.patch(f"{kube.path('pods', pod['metadata']['name'])}/status", state, "strategic")
    until(lambda: len(pods(kube, "low")) == 2)
    assert (kube.get("jobs", "low")["status"].get("failed", 0), conditions(kube, "low")) == (0, {})


def test_an_exit_code_may_fail_the_job_at_once(kube: Kube) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
    kube.make("jobs", job("fatal", plays="fail", podFailurePolicy={"rules": [rule]}))
    ended(kube, "fatal")
    assert conditions(kube, "fatal")["Failed"] == "PodFailurePolicy"
    message = kube.get("jobs", "fatal")["status"]["conditions"][-1]["message"]
    assert "failed with exit code 3 matching FailJob rule at index 0" in message


def test_a_job_removed_without_a_word_leaves_its_pods(kube: Kube, kubelet: FakeKubelet) -> None:
    """batch/v1 keeps the pods by default, as ever; Background takes them along."""
    kube.make("jobs", job("kept"))
    ended(kube, "kept")
    answer = kube.remove(kube.path("jobs", "kept"))
    assert "child pods are preserved by default" in answer.headers["warning"]
    until(lambda: kube.gone("jobs", "kept"))
    (pod,) = pods(kube, "kept")
    assert "ownerReferences" not in pod["metadata"]
    kube.make("jobs", job("taken"))
    ended(kube, "taken")
    kube.remove(kube.path("jobs", "taken"), {"propagationPolicy": "Background"})
    until(lambda: not pods(kube, "taken"))
