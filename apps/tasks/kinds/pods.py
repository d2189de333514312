"""One recorded pod as an instance: state, reason and the container to blame (domain.md §11; F08, F09, F11, F12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apps.tasks.domain.states import Reason
from apps.tasks.kinds.base import ContainerStatus, InstanceState, InstanceStatus
from apps.tasks.kinds.containers import (
    CRASH_LOOP,
    IMAGE_REASONS,
    OUT_OF_MEMORY,
    QUIET_REASONS,
    bounded,
    ends,
    failed,
    first_failed,
    read_containers,
    unstartable,
    waiting_for,
)
from apps.tasks.kinds.raw import condition, entries, holds, inner, moment, text

Verdict = tuple[InstanceState, str, str, ContainerStatus | None]

_PREEMPTED = frozenset({"PreemptionByScheduler", "Preempted", "Preempting"})
_LOST = frozenset({"NodeLost", "NodeAffinity", "UnexpectedAdmissionError"})
# Not ready by the pod's own doing though all its containers are.
_OWN_REASONS = frozenset({"ReadinessGatesNotReady", "ContainersNotReady", "PodCompleted", "PodFailed"})


def _displaced(pod: Mapping[str, Any]) -> Reason | None:
    """Whether something outside the pod took it away: told from a failure by condition or status reason."""
    words = {text(pod, "status", "reason")}
    target = condition(pod, "DisruptionTarget")
    if target.get("status") == "True":
        words.add(text(target, "reason") or "Evicted")
    words.discard("")
    if words & _PREEMPTED:
        return Reason.PREEMPTED
    if target.get("status") == "True" or "Evicted" in words:
        return Reason.EVICTED
    return None


def _ended_or_leaving(pod: Mapping[str, Any]) -> Verdict | None:
    phase, message = text(pod, "status", "phase"), bounded(text(pod, "status", "message"))
    displaced, leaving = _displaced(pod), inner(pod, "metadata").get("deletionTimestamp") is not None
    if phase == "Succeeded":
        return InstanceState.SUCCEEDED, "", "", None
    if phase == "Unknown" or text(pod, "status", "reason") in _LOST:
        return InstanceState.LOST, "NodeLost", message, None
    if displaced is not None and (phase == "Failed" or not leaving):
        state = InstanceState.PREEMPTED if displaced is Reason.PREEMPTED else InstanceState.EVICTED
        told = bounded(text(condition(pod, "DisruptionTarget"), "message"))
        return state, displaced, message or told, None
    if leaving:
        return InstanceState.TERMINATING, displaced or Reason.TERMINATING, message, None
    return None


def _restarts(pod: Mapping[str, Any]) -> bool:
    return text(pod, "spec", "restartPolicy") != "Never"


def _failed(pod: Mapping[str, Any], containers: tuple[ContainerStatus, ...]) -> Verdict | None:
    """A container that ended badly decides, in whichever order the others end."""
    phase = text(pod, "status", "phase")
    culprit = first_failed(containers, ends(pod))
    if phase == "Failed":
        if culprit is None:
            reason = text(pod, "status", "reason") or Reason.CONTAINER_FAILED
            return InstanceState.FAILED, bounded(reason, 60), bounded(text(pod, "status", "message")), None
        state = InstanceState.INIT_FAILED if culprit.init else InstanceState.FAILED
        return state, _failure(culprit), culprit.message, culprit
    if culprit is None:
        return None
    if _restarts(pod):
        return InstanceState.CRASH_LOOP, Reason.CRASH_LOOP, culprit.message, culprit
    state = InstanceState.INIT_FAILED if culprit.init else InstanceState.FAILED
    return state, _failure(culprit), culprit.message, culprit


def _failure(culprit: ContainerStatus) -> str:
    if culprit.reason == OUT_OF_MEMORY:
        return Reason.OUT_OF_MEMORY
    if fault := unstartable(culprit):
        return fault
    return Reason.INIT_FAILED if culprit.init else Reason.CONTAINER_FAILED


def _waiting(containers: tuple[ContainerStatus, ...]) -> Verdict | None:
    if crashing := waiting_for(containers, frozenset({CRASH_LOOP})):
        return InstanceState.CRASH_LOOP, Reason.CRASH_LOOP, crashing.message, crashing
    if pulling := waiting_for(containers, IMAGE_REASONS):
        return InstanceState.IMAGE_PULL, Reason.IMAGE_PULL, pulling.message, pulling
    for container in containers:
        if container.state == "waiting" and container.reason not in QUIET_REASONS:
            return InstanceState.STARTING, container.reason, container.message, container
    return None


def _silent_node(pod: Mapping[str, Any]) -> Verdict | None:
    """The cluster takes the pods of a node that fell silent for not ready, with nothing said of their containers:
    those stand as the node last told them, ready (Kubernetes' node lifecycle controller)."""
    ready, main = condition(pod, "Ready"), entries(pod, "status", "containerStatuses")
    if text(pod, "status", "phase") != "Running" or ready.get("status") != "False" or not main:
        return None
    if text(ready, "reason") in _OWN_REASONS or not all(container.get("ready") is True for container in main):
        return None
    return InstanceState.LOST, "NodeLost", bounded(text(ready, "message")), None


def _coming_up(pod: Mapping[str, Any], containers: tuple[ContainerStatus, ...]) -> Verdict:
    scheduled = condition(pod, "PodScheduled")
    if not text(pod, "spec", "nodeName") and not holds(pod, "PodScheduled"):
        reason = bounded(text(scheduled, "reason"), 60) if scheduled.get("status") == "False" else ""
        return InstanceState.PENDING, reason, bounded(text(scheduled, "message")), None
    main = [container for container in containers if not container.init]
    up = bool(main) and all(container.state != "waiting" for container in main)
    if text(pod, "status", "phase") == "Running" and (up or not main):
        return InstanceState.RUNNING, "", "", None
    return InstanceState.STARTING, Reason.STARTING, "", None


def read_instance(pod: Mapping[str, Any]) -> InstanceStatus:
    """The pod as people should see it; any null or missing field counts as empty."""
    containers = read_containers(pod)
    state, reason, message, culprit = (
        _ended_or_leaving(pod)
        or _failed(pod, containers)
        or _waiting(containers)
        or _silent_node(pod)
        or _coming_up(pod, containers)
    )
    if culprit is None and state is not InstanceState.RUNNING:
        culprit = next((container for container in containers if failed(container)), None)
    return InstanceStatus(
        uid=text(pod, "metadata", "uid"),
        name=text(pod, "metadata", "name"),
        node=text(pod, "spec", "nodeName"),
        state=state,
        reason=str(reason),
        message=message,
        restarts=sum(container.restarts for container in containers),
        exit_code=culprit.exit_code if culprit is not None else None,
        containers=containers,
        started_at=moment(pod, "status", "startTime"),
    )


# The most telling first: what a person must act on, then what is on its way, then what is well.
SEVERITY: tuple[InstanceState, ...] = (
    InstanceState.CRASH_LOOP,
    InstanceState.INIT_FAILED,
    InstanceState.IMAGE_PULL,
    InstanceState.FAILED,
    InstanceState.LOST,
    InstanceState.EVICTED,
    InstanceState.PREEMPTED,
    InstanceState.PENDING,
    InstanceState.STARTING,
    InstanceState.TERMINATING,
    InstanceState.RUNNING,
    InstanceState.SUCCEEDED,
)

UNEXPLAINED = frozenset({"", Reason.STARTING})


def holding(pods: Iterable[object]) -> int:
    """How many pods may still hold their machine: all but the ended ones; a Terminating pod holds until it is gone."""
    return sum(text(pod, "status", "phase") not in {"Succeeded", "Failed"} for pod in pods if isinstance(pod, Mapping))


def read_instances(pods: Iterable[object]) -> tuple[InstanceStatus, ...]:
    """All recorded pods of an attempt in the order given; what is no object is left out."""
    return tuple(read_instance(pod) for pod in pods if isinstance(pod, Mapping))


def worst(instances: Iterable[InstanceStatus]) -> InstanceStatus | None:
    """The instance that says most about what is wrong; an explained one before an unexplained of the same state."""
    return min(instances, key=lambda one: (SEVERITY.index(one.state), one.reason in UNEXPLAINED), default=None)


def blamed(instance: InstanceStatus) -> dict[str, object]:
    """The numbers behind an instance's reason: which container, its exit code, its restarts, what keeps it down."""
    numbers: dict[str, object] = {"instance": instance.name}
    pulling = IMAGE_REASONS if instance.state is InstanceState.IMAGE_PULL else frozenset()
    told = {instance.reason, *pulling}
    troubled = [one for one in instance.containers if one.exit_code not in (None, 0) or one.reason in told]
    culprit = next((one for one in troubled if one.exit_code == instance.exit_code), None)
    if culprit is not None:
        numbers |= {"container": culprit.name, "init": culprit.init}
        if (fault := unstartable(culprit)) and fault != instance.reason:
            numbers["fault"] = fault
    if instance.exit_code is not None:
        numbers["exit_code"] = instance.exit_code
    if instance.restarts:
        numbers["restarts"] = instance.restarts
    return numbers
