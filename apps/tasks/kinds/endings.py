"""What every kind has alike: no workload yet, gone, stopping, pausing (domain.md §§2, 11)."""

from __future__ import annotations

from apps.tasks.domain.states import Intent, Reason, State
from apps.tasks.kinds.base import InstanceStatus, Observed, Outcome, Status
from apps.tasks.kinds.pods import holding


def stopping(observed: Observed, instances: tuple[InstanceStatus, ...]) -> Status:
    """Stopping until workload and pods are seen gone (F15); only then stopped."""
    left = holding(observed.pods)
    if observed.workload is not None or left:
        return Status(State.STOPPING, Reason.TERMINATING, {"pods": left}, instances=instances)
    return Status(State.STOPPED, Reason.STOPPED_BY_USER, instances=instances, outcome=Outcome.STOPPED)


def pausing(left: int, instances: tuple[InstanceStatus, ...]) -> Status:
    """Pausing while ``left`` pods hold their machine, paused when none does; only then is anything given back."""
    if left:
        return Status(State.PAUSING, Reason.TERMINATING, {"pods": left}, instances=instances)
    return Status(State.PAUSED, Reason.PAUSED, instances=instances)


def absent(observed: Observed, instances: tuple[InstanceStatus, ...]) -> Status:
    """No workload on the cluster, wanted to run or to rest."""
    if observed.intent is Intent.PAUSE:
        return pausing(holding(observed.pods), instances)
    reason = Reason.LOST if observed.seen_before else Reason.CREATING_OBJECTS
    return Status(State.STARTING, reason, instances=instances)
