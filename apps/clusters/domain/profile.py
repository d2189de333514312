"""What one cluster asks of every manifest: scheduler, annotations, soft preferences (Seed A's sample Deployment)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class Preference:
    """A soft node preference: ``operator`` is In, NotIn, Exists or DoesNotExist; weight 1–100."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
    weight: int = 50


@dataclass(frozen=True, slots=True)
class ClusterProfile:
    """Empty values leave Kubernetes' own defaults; ``pre_stop_seconds`` is the Deployment's pause before SIGTERM."""

    scheduler_name: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    preferences: tuple[Preference, ...] = ()
    pre_stop_seconds: int = 0
    priority_classes: Mapping[str, str] = field(default_factory=dict)


def read_profile(stored: Mapping[str, Any]) -> ClusterProfile:
    """The profile kept with a Cluster; raises msgspec.ValidationError where the stored JSON is no profile."""
    return msgspec.convert(stored, ClusterProfile)
