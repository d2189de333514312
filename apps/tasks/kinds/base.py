"""What a kind of task is made of: one frozen record per kind, and the values that its pure functions take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.profile import ClusterProfile
from apps.clusters.gateway.port import Manifest, Resource
from apps.kernel.errors import Refusal
from apps.tasks.domain.spec import KindName, TaskSpec
from apps.tasks.domain.states import Intent, State, Verb


@dataclass(frozen=True, slots=True)
class ManifestInput:
    """Everything a manifest depends on; the same input gives the same objects.

    ``scope`` is ``naming.scope_label``'s value; ``paused`` renders the suspended Job or the Deployment of 0;
    ``planned_nodes`` are the admission's nodes, preferred but not demanded; ``pool`` empty leaves the pool open
    (preview).
    """

    spec: TaskSpec
    mark: MarkFacts | None
    task_id: str
    attempt: int
    object_name: str
    namespace: str
    scope: str
    revision: int = 1
    pool: str = ""
    profile: ClusterProfile = field(default_factory=ClusterProfile)
    planned_nodes: tuple[str, ...] = ()
    paused: bool = False
    restart_count: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """Raw objects of one attempt as last recorded, beside what is wanted of it.

    ``seen_before``: the workload stood on the cluster once; ``was_running``: the attempt has run before.
    """

    workload: Manifest | None
    pods: Sequence[Manifest] = ()
    wanted_nodes: int = 1
    intent: Intent = Intent.RUN
    revision: int = 1
    seen_before: bool = False
    was_running: bool = False


class InstanceState(StrEnum):
    """What a pod does, in words of ours (domain.md §11)."""

    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    CRASH_LOOP = "crash_loop"
    IMAGE_PULL = "image_pull"
    INIT_FAILED = "init_failed"
    TERMINATING = "terminating"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EVICTED = "evicted"
    PREEMPTED = "preempted"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ContainerStatus:
    """One container as last seen; ``state`` is waiting, running or terminated.

    ``reason``, ``message`` and ``cause`` (why it ended last) are the cluster's own words.
    """

    name: str
    state: str
    restarts: int = 0
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    init: bool = False
    cause: str = ""


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """One pod: its state, the token of its reason, and the cluster's own message about it or its worst container."""

    uid: str
    name: str
    node: str
    state: InstanceState
    reason: str = ""
    message: str = ""
    restarts: int = 0
    exit_code: int | None = None
    containers: tuple[ContainerStatus, ...] = ()
    started_at: datetime | None = None


class Outcome(StrEnum):
    """How an attempt ended; set once, by the workload's own conditions or by the owner's stop."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Status:
    """What the task does now. ``outcome`` is set when the attempt is over; ``text`` is the cluster's own message."""

    state: State
    reason: str = ""
    numbers: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    nodes_ready: int = 0
    instances: tuple[InstanceStatus, ...] = ()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of task: its pure functions and what may happen to it after creation (domain.md §2).

    ``mutable_fields`` are wire names; ``spec_fault`` refuses what means nothing for this kind; ``instances_scale``: the
    node count may change while it runs; ``gang``: several nodes start together or not at all; ``restarts_in_place``: a
    restart rolls the running attempt (``ManifestInput.restart_count``) instead of starting the next.
    """

    name: KindName
    resource: Resource
    manifests: Callable[[ManifestInput], tuple[Manifest, ...]]
    status: Callable[[Observed], Status]
    mutable_fields: frozenset[str]
    verbs: frozenset[Verb]
    spec_fault: Callable[[TaskSpec], Refusal | None]
    instances_scale: bool = False
    gang: bool = False
    restarts_in_place: bool = False
