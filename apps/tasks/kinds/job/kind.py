"""The record of kind Job (domain.md §2)."""

from __future__ import annotations

from apps.clusters.gateway.port import Resource
from apps.kernel.errors import Refusal
from apps.tasks.domain.spec import KindName, TaskSpec
from apps.tasks.domain.states import Verb
from apps.tasks.kinds.base import Kind
from apps.tasks.kinds.fields import foreign_fault
from apps.tasks.kinds.job.manifest import manifests
from apps.tasks.kinds.job.status import status

FOREIGN = (
    "min_available",
    "pre_stop_seconds",
    "advanced.max_surge",
    "advanced.max_unavailable",
    "advanced.progress_deadline_seconds",
)


def spec_fault(spec: TaskSpec) -> Refusal | None:
    """Refuse what belongs to services: rolling updates, readiness counts."""
    return foreign_fault(spec, FOREIGN)


JOB = Kind(
    name=KindName.JOB,
    resource=Resource.JOB,
    manifests=manifests,
    status=status,
    mutable_fields=frozenset({"display_name"}),
    verbs=frozenset({Verb.PAUSE, Verb.RESUME, Verb.RESTART, Verb.STOP, Verb.RENAME, Verb.CLONE, Verb.DELETE}),
    spec_fault=spec_fault,
    gang=True,
)
