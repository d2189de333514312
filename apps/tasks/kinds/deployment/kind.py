"""The record of kind Deployment (domain.md §2)."""

from __future__ import annotations

from dataclasses import fields

from apps.clusters.gateway.port import Resource
from apps.kernel.errors import Code, Refusal
from apps.kernel.text import say as _
from apps.tasks.domain.spec import KindName, TaskSpec
from apps.tasks.domain.states import Verb
from apps.tasks.kinds.base import Kind
from apps.tasks.kinds.deployment.manifest import manifests
from apps.tasks.kinds.deployment.status import status
from apps.tasks.kinds.fields import foreign_fault

FOREIGN = ("max_runtime", "backoff_limit")


def spec_fault(spec: TaskSpec) -> Refusal | None:
    """Refuse what belongs to work that ends, and a least number of instances above the wanted one."""
    nodes = spec.resources.nodes
    if spec.min_available is not None and spec.min_available > max(1, nodes):
        message = _("at most the number of instances, %(nodes)d", nodes=nodes)
        return Refusal(Code.INVALID, message, {"min_available": [message]}, {"nodes": nodes})
    return foreign_fault(spec, FOREIGN)


DEPLOYMENT = Kind(
    name=KindName.DEPLOYMENT,
    resource=Resource.DEPLOYMENT,
    manifests=manifests,
    status=status,
    mutable_fields=frozenset(field.name for field in fields(TaskSpec)) - {"kind", "project"},
    verbs=frozenset(Verb),
    spec_fault=spec_fault,
    instances_scale=True,
    restarts_in_place=True,
)
