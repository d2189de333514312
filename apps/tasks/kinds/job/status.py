"""What a Job does, from its recorded object and pods: only its own conditions end it (domain.md §11; F09, F11, F12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.tasks.domain.states import Intent, Reason, State
from apps.tasks.kinds.base import InstanceState, InstanceStatus, Observed, Outcome, Status
from apps.tasks.kinds.containers import bounded
from apps.tasks.kinds.endings import absent, pausing, stopping
from apps.tasks.kinds.pods import blamed, holding, read_instances, worst
from apps.tasks.kinds.raw import condition, count, entries, holds, inner, text

Instances = tuple[InstanceStatus, ...]

_DISPLACED = frozenset({InstanceState.EVICTED, InstanceState.PREEMPTED})
_BROKEN = frozenset({InstanceState.FAILED, InstanceState.INIT_FAILED})
_WAITING_BADLY = frozenset({InstanceState.CRASH_LOOP, InstanceState.IMAGE_PULL})


def status(observed: Observed) -> Status:
    """The Job's state; a pod's phase alone never ends it."""
    instances, job = read_instances(observed.pods), observed.workload
    if job is not None and (final := _final(job, instances)):
        return final
    if observed.intent is Intent.STOP:
        return stopping(observed, instances)
    if job is None:
        return absent(observed, instances)
    if observed.intent is Intent.PAUSE:
        counted = count(job, "status", "active") + count(job, "status", "terminating")
        suspended = inner(job, "spec").get("suspend") is True
        left = max(holding(observed.pods), counted)
        return pausing(left if suspended else max(1, left), instances)
    return _active(observed, job, instances)


def _history(job: Mapping[str, Any], instances: Instances) -> dict[str, object]:
    """Ended attempts worth a note: pods taken away from outside are counted apart from failures (F11, F12)."""
    displaced = sum(instance.state in _DISPLACED for instance in instances)
    failures = max(0, count(job, "status", "failed") - displaced)
    return {name: number for name, number in (("evicted", displaced), ("failures", failures)) if number}


def _final(job: Mapping[str, Any], instances: Instances) -> Status | None:
    numbers = _history(job, instances)
    if holds(job, "Complete"):
        return Status(State.SUCCEEDED, "", numbers, instances=instances, outcome=Outcome.SUCCEEDED)
    if not holds(job, "Failed"):
        return None
    told = condition(job, "Failed")
    reason, message = text(told, "reason"), bounded(text(told, "message"))
    culprit = worst(instance for instance in instances if instance.state in _BROKEN)
    if reason in {Reason.BACKOFF_LIMIT, "PodFailurePolicy", ""} and culprit is not None:
        reason, message = culprit.reason, culprit.message or message
    if culprit is not None:
        numbers |= blamed(culprit)
    if reason == Reason.DEADLINE:
        numbers["seconds"] = count(job, "spec", "activeDeadlineSeconds")
    return Status(
        State.FAILED,
        bounded(reason or Reason.BACKOFF_LIMIT, 40),
        numbers,
        message,
        instances=instances,
        outcome=Outcome.FAILED,
    )


def _attempt(observed: Observed, job: Mapping[str, Any], instances: Instances) -> int:
    """Which try this is: one more than the pods that ended badly or were taken away."""
    ended = sum(text(pod, "status", "phase") == "Failed" for pod in entries({"pods": observed.pods}, "pods"))
    return 1 + max(count(job, "status", "failed"), ended)


def _active(observed: Observed, job: Mapping[str, Any], instances: Instances) -> Status:
    running = sum(instance.state is InstanceState.RUNNING for instance in instances)
    attempt = _attempt(observed, job, instances)
    numbers: dict[str, object] = {"running": running, "wanted": observed.wanted_nodes, **_history(job, instances)}
    if attempt > 1:
        numbers["attempt"] = attempt
    if inner(job, "spec").get("suspend") is True:
        return Status(State.STARTING, Reason.CREATING_OBJECTS, numbers, instances=instances)
    state, blame = _verdict(instances, running, retry=attempt > 1)
    reason, message = _reason(state, blame, retry=attempt > 1)
    if blame is not None:
        numbers |= blamed(blame)
    return Status(state, reason, numbers, message, running, instances)


def _verdict(instances: Instances, running: int, *, retry: bool) -> tuple[State, InstanceStatus | None]:
    """Running if any pod runs or a retry is under way; a pod that waits badly is never shown as running."""
    troubled = worst(one for one in instances if one.state not in {InstanceState.RUNNING, InstanceState.SUCCEEDED})
    waiting = worst(one for one in instances if one.state in _WAITING_BADLY)
    if running:
        return State.RUNNING, troubled
    if waiting is not None:
        return State.STARTING, waiting
    if retry or any(one.state in _BROKEN | {InstanceState.SUCCEEDED} for one in instances):
        return State.RUNNING, troubled
    return State.STARTING, troubled


def _reason(state: State, blame: InstanceStatus | None, *, retry: bool) -> tuple[str, str]:
    if blame is None:
        if retry:
            return Reason.RESTARTING, ""
        return ("", "") if state is State.RUNNING else (Reason.STARTING, "")
    if retry and blame.state in _BROKEN | _DISPLACED:
        return Reason.RESTARTING, blame.message
    return blame.reason or Reason.STARTING, blame.message
