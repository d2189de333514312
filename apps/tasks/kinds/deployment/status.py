"""What a Deployment does: done only when observed, updated, available and no old pod left (domain.md §11; F10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.tasks.domain.naming import ANNOTATION_REVISION
from apps.tasks.domain.states import Intent, Reason, State
from apps.tasks.kinds.base import InstanceState, InstanceStatus, Observed, Status
from apps.tasks.kinds.containers import bounded
from apps.tasks.kinds.endings import absent, pausing, stopping
from apps.tasks.kinds.pods import UNEXPLAINED, blamed, holding, read_instances, worst
from apps.tasks.kinds.raw import condition, count, holds, text, whole

Instances = tuple[InstanceStatus, ...]

_BAD = frozenset(
    {
        InstanceState.CRASH_LOOP,
        InstanceState.INIT_FAILED,
        InstanceState.IMAGE_PULL,
        InstanceState.FAILED,
        InstanceState.LOST,
    }
)


@dataclass(frozen=True, slots=True)
class Rollout:
    """The counts of one Deployment: ``current`` when its controller has seen the revision that is wanted."""

    wanted: int
    updated: int
    available: int
    ready: int
    old: int
    current: bool

    @property
    def done(self) -> bool:
        return self.current and self.old == 0 and self.updated == self.available == self.wanted

    @property
    def updating(self) -> bool:
        return not self.current or self.old > 0

    def numbers(self) -> dict[str, object]:
        return {"updated": self.updated, "available": self.available, "wanted": self.wanted, "old": self.old}


def status(observed: Observed) -> Status:
    """The Deployment's state; its pods' and its own conditions give the reason."""
    instances, deployment = read_instances(observed.pods), observed.workload
    if observed.intent is Intent.STOP:
        return stopping(observed, instances)
    if deployment is None:
        return absent(observed, instances)
    wanted = observed.wanted_nodes if observed.intent is Intent.RUN else 0
    if wanted == 0:
        return _resting(observed, deployment, instances)
    rollout = _read(observed, deployment, instances)
    ready = min(rollout.ready, wanted)
    if rollout.done:
        return Status(State.RUNNING, "", rollout.numbers(), nodes_ready=ready, instances=instances)
    state, reason, blame = _verdict(observed, deployment, rollout, instances)
    numbers = rollout.numbers() | (blamed(blame) if blame is not None else {})
    message = blame.message if blame is not None else ""
    return Status(state, reason, numbers, message or _told(deployment, reason), ready, instances)


def _read(observed: Observed, deployment: Mapping[str, Any], instances: Instances) -> Rollout:
    """Old pods are the surplus over the updated ones, and those that are still leaving (not those of a lost node)."""
    updated, replicas = count(deployment, "status", "updatedReplicas"), count(deployment, "status", "replicas")
    generation = whole(deployment, "metadata", "generation") or 0
    applied = text(deployment, "metadata", "annotations", ANNOTATION_REVISION)
    leaving = sum(instance.state is InstanceState.TERMINATING for instance in instances)
    seen = (whole(deployment, "status", "observedGeneration") or 0) >= generation
    return Rollout(
        wanted=observed.wanted_nodes,
        updated=updated,
        available=count(deployment, "status", "availableReplicas"),
        ready=max(count(deployment, "status", "readyReplicas"), count(deployment, "status", "availableReplicas")),
        old=max(0, replicas - updated) + leaving,
        current=seen and applied in {"", str(observed.revision)} and _replicas(deployment) == observed.wanted_nodes,
    )


def _replicas(deployment: Mapping[str, Any]) -> int:
    given = whole(deployment, "spec", "replicas")
    return 1 if given is None else given


def _resting(observed: Observed, deployment: Mapping[str, Any], instances: Instances) -> Status:
    """0 replicas: paused by its owner, or scaled to 0 (F30: never failed)."""
    left = max(holding(observed.pods), count(deployment, "status", "replicas"))
    resting = pausing(left if _replicas(deployment) == 0 else max(1, left), instances)
    if observed.intent is Intent.RUN and resting.state is State.PAUSED:
        return Status(State.PAUSED, Reason.SCALED_TO_ZERO, instances=instances)
    return resting


def _verdict(
    observed: Observed, deployment: Mapping[str, Any], rollout: Rollout, instances: Instances
) -> tuple[State, str, InstanceStatus | None]:
    bad = worst(one for one in instances if one.state in _BAD)
    waiting = worst(
        one for one in instances if one.state is InstanceState.PENDING or one.state is InstanceState.STARTING
    )
    serving = rollout.ready > 0 or observed.was_running
    if not serving:
        return State.STARTING, _first_reason(deployment, bad or waiting), bad or waiting
    if _stuck(deployment) and rollout.updating:
        return State.DEGRADED, Reason.UPDATE_STUCK, bad or waiting
    telling = bad or (waiting if waiting is not None and waiting.reason not in UNEXPLAINED else None)
    if rollout.updating:
        return State.UPDATING, telling.reason if telling is not None else "", telling
    if bad is not None:
        return State.DEGRADED, bad.reason or Reason.CONTAINER_FAILED, bad
    return _short(deployment, waiting)


def _short(deployment: Mapping[str, Any], waiting: InstanceStatus | None) -> tuple[State, str, InstanceStatus | None]:
    """Nothing is broken, some are missing: on their way (a scale-up) or with no place to go."""
    if holds(deployment, "ReplicaFailure"):
        return State.DEGRADED, Reason.REJECTED, waiting
    if waiting is not None and waiting.reason not in UNEXPLAINED:
        return State.DEGRADED, waiting.reason, waiting
    return State.UPDATING, "", waiting


def _first_reason(deployment: Mapping[str, Any], blame: InstanceStatus | None) -> str:
    if blame is not None:
        return blame.reason or Reason.STARTING
    if holds(deployment, "ReplicaFailure"):
        return Reason.REJECTED
    return Reason.UPDATE_STUCK if _stuck(deployment) else Reason.STARTING


def _stuck(deployment: Mapping[str, Any]) -> bool:
    progressing = condition(deployment, "Progressing")
    return progressing.get("status") == "False" and text(progressing, "reason") == "ProgressDeadlineExceeded"


def _told(deployment: Mapping[str, Any], reason: str) -> str:
    """The controller's own message, where it is the one who knows why."""
    kinds = {Reason.REJECTED: "ReplicaFailure", Reason.UPDATE_STUCK: "Progressing"}
    found = next((kind for word, kind in kinds.items() if word == reason), "")
    return bounded(text(condition(deployment, found), "message")) if found else ""
