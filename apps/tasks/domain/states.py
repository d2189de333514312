"""States a user sees, intents a user has, and which may follow which (domain.md §§2, 11)."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    UPDATING = "updating"
    DEGRADED = "degraded"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class Intent(StrEnum):
    """What the owner wants of the task; the reconciler makes the cluster agree."""

    RUN = "run"
    PAUSE = "pause"
    STOP = "stop"


class Verb(StrEnum):
    """What a person may do to a task after creation."""

    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    STOP = "stop"
    SCALE = "scale"
    EDIT = "edit"
    RENAME = "rename"
    ROLLBACK = "rollback"
    CLONE = "clone"
    DELETE = "delete"


FINAL = frozenset({State.SUCCEEDED, State.FAILED, State.STOPPED})
ON_CLUSTER = frozenset({State.STARTING, State.RUNNING, State.UPDATING, State.DEGRADED, State.PAUSING, State.STOPPING})
HOLDING = ON_CLUSTER | {State.QUEUED}
"""States in which a task may hold quota: pending and running both do (domain.md §6)."""


class Reason(StrEnum):
    """Tokens printed alike by GUI, REST and events (domain.md §7); the sentence is made from token and numbers."""

    UNKNOWN_MARK = "UnknownMark"
    NO_CAPABLE_CLUSTER = "NoCapableCluster"
    CLUSTER_UNREACHABLE = "ClusterUnreachable"
    USER_QUOTA = "UserQuota"
    PROJECT_QUOTA = "ProjectQuota"
    POOL_FULL = "PoolFull"
    FRAGMENTED = "Fragmented"
    GANG_PARTIAL = "GangPartial"
    PAUSED = "Paused"
    CREATING_OBJECTS = "CreatingObjects"
    UNSCHEDULABLE = "Unschedulable"
    IMAGE_PULL = "ImagePull"
    STARTING = "Starting"
    CRASH_LOOP = "CrashLoopBackOff"
    INIT_FAILED = "InitContainerFailed"
    CONTAINER_FAILED = "ContainerFailed"
    OUT_OF_MEMORY = "OOMKilled"
    TERMINATING = "Terminating"
    EVICTED = "Evicted"
    PREEMPTED = "Preempted"
    DEADLINE = "DeadlineExceeded"
    BACKOFF_LIMIT = "BackoffLimitExceeded"
    UPDATE_STUCK = "UpdateStuck"
    REJECTED = "Rejected"
    LOST = "ObjectsGone"
    PENDING_TIMEOUT = "PendingTimeout"
    STOPPED_BY_USER = "StoppedByUser"
    SCALED_TO_ZERO = "ScaledToZero"
    RESTARTING = "Restarting"
