"""What a user asks for, as one frozen value: the canonical form behind the form, REST and YAML (rest.md, task spec).

Quantities are integers here (millicores, MiB, seconds); strings such as ``16Gi`` exist only at the edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from apps.kernel.resources import Cards, MiB, Millicores


class KindName(StrEnum):
    """Kinds of task (domain.md §2); a kind works once it stands in ``tasks.kinds.registry``."""

    JOB = "Job"
    DEPLOYMENT = "Deployment"


class Priority(StrEnum):
    """Priorities of domain.md §6, the most urgent first."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class OnPreemption(StrEnum):
    REQUEUE = "requeue"
    STOP = "stop"


DEFAULT_PENDING_TIMEOUT = 1800


@dataclass(frozen=True, slots=True)
class Port:
    """A port a container listens on; ``name`` is an IANA service name of at most 15 characters, or empty."""

    port: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class DatasetMount:
    """An existing claim mounted into every container (domain.md §10, class dataset)."""

    claim: str
    mount_path: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """One container: ``cpu`` and ``memory`` are its weights, or its limits in a CPU-only task (domain.md §4)."""

    name: str
    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cpu: Millicores | None = None
    memory: MiB | None = None
    cards: Cards | None = None
    ports: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """How big: ``cards_per_node`` of ``mark`` on each of ``nodes`` identical pods; ``mark`` None is CPU only."""

    mark: str | None = None
    cards_per_node: int = 0
    nodes: int = 1


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Everything a user submits. ``project`` None is the user's own name; durations are whole seconds, 0 = none."""

    kind: KindName
    display_name: str
    containers: tuple[ContainerSpec, ...]
    resources: ResourceRequest = field(default_factory=ResourceRequest)
    project: str | None = None
    priority: Priority = Priority.NORMAL
    shm: MiB | None = None
    datasets: tuple[DatasetMount, ...] = ()
    pending_timeout: int = DEFAULT_PENDING_TIMEOUT
    max_runtime: int | None = None
    backoff_limit: int = 0
    min_available: int | None = None
    pre_stop_seconds: int | None = None
    on_preemption: OnPreemption = OnPreemption.REQUEUE
    labels: Mapping[str, str] = field(default_factory=dict)
    advanced: Mapping[str, Any] = field(default_factory=dict)


def to_json(spec: TaskSpec) -> dict[str, Any]:
    """The spec as plain JSON values, what a Revision stores; ``from_json`` reads it back to an equal value."""
    plain: dict[str, Any] = msgspec.to_builtins(spec)
    return plain


def from_json(stored: Mapping[str, Any]) -> TaskSpec:
    """The spec from what ``to_json`` gave; raises msgspec.ValidationError on anything else."""
    return msgspec.convert(stored, TaskSpec)
