"""Making one cluster agree with one attempt: take it, look, plan, do, write down. A kill at any line costs one run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from apps.clusters.gateway import registry
from apps.clusters.gateway.kube.errors import NAMESPACE_TERMINATING
from apps.clusters.gateway.port import (
    ClusterGateway,
    Conflict,
    Forbidden,
    Gone,
    Manifest,
    ObjectRef,
    Rejected,
    Resource,
    Transient,
)
from apps.kernel import clock
from apps.tasks.domain.naming import LABEL_ATTEMPT, LABEL_TASK
from apps.tasks.domain.reconcile import (
    Blocked,
    Create,
    Delete,
    EnsureNamespace,
    EnsurePriorityClass,
    Merge,
    Replace,
    Seen,
    Step,
    plan,
    ref_of,
)
from apps.tasks.services import reconciliation
from apps.tasks.services.reconciliation import Claim


class InTheWay(Conflict):
    """What stands in the way is not ours to move: another's object of the name, a namespace that is going."""


def reconcile(attempt_pk: int, *, now: Callable[[], datetime] = clock.now) -> None:
    """One look at one attempt. Faults of the cluster mean a later try or the attempt's end, never an exception."""
    claim = reconciliation.claim(attempt_pk, now=now())
    if claim is None:
        return
    try:
        gateway = registry.gateway_for(claim.cluster)
        seen = look(gateway, claim)
        steps = plan(claim.wanted, seen)
        for step in steps:
            perform(gateway, step)
        empty = not steps and not seen.objects and not _pods(gateway, claim)
    except Rejected as error:
        reconciliation.refused(claim, error, now=now())
    except InTheWay as error:
        reconciliation.blocked(claim, error, now=now())
    except Transient as error:
        going = error.reason == NAMESPACE_TERMINATING
        (reconciliation.blocked if going else reconciliation.postponed)(claim, error, now=now())
    except (Forbidden, Gone) as error:
        reconciliation.postponed(claim, error, now=now())
    else:
        reconciliation.agreed(claim, empty=empty, changed=bool(steps), now=now())


def look(gateway: ClusterGateway, claim: Claim) -> Seen:
    """The attempt's objects by their labels, whatever has a wanted name, and the ground that new objects need."""
    wanted = claim.wanted
    objects: dict[ObjectRef, Manifest] = {}
    for resource in {claim.workload, Resource.SERVICE, *(ref_of(manifest).resource for manifest in wanted.manifests)}:
        for item in gateway.list(resource, namespace=wanted.namespace, selector=_labels(claim)).items:
            objects[ObjectRef(resource, item["metadata"]["name"], wanted.namespace)] = item
    absent = [ref for ref in map(ref_of, wanted.manifests) if ref not in objects]
    for ref in absent:
        if (standing := gateway.read(ref)) is not None:
            objects[ref] = standing
    if not absent:
        return Seen(objects)
    classes = frozenset(
        str(item["metadata"]["name"]) for item in gateway.list(Resource.PRIORITY_CLASS).items if item.get("metadata")
    )
    return Seen(objects, gateway.read(ObjectRef(Resource.NAMESPACE, wanted.namespace)), classes)


def perform(gateway: ClusterGateway, step: Step) -> None:
    """One step on the cluster; each may run twice."""
    match step:
        case EnsureNamespace(name):
            labels = {"app.kubernetes.io/managed-by": "platform"}
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
            gateway.create(Resource.NAMESPACE, manifest)
        case EnsurePriorityClass(manifest):
            gateway.create(Resource.PRIORITY_CLASS, manifest)
        case Create(resource, manifest):
            gateway.create(resource, manifest)
        case Replace(ref, manifest):
            gateway.replace(ref, manifest)
        case Merge(ref, patch):
            gateway.merge(ref, patch)
        case Delete(ref, uid):
            gateway.delete(ref, uid=uid or None)
        case Blocked(text=text):
            raise InTheWay(str(text), 409)


def _labels(claim: Claim) -> dict[str, str]:
    return {LABEL_TASK: claim.wanted.task_id, LABEL_ATTEMPT: str(claim.wanted.attempt)}


def _pods(gateway: ClusterGateway, claim: Claim) -> bool:
    """Whether any pod of the attempt is there, of whichever phase: only an empty answer counts as gone (F15)."""
    return bool(gateway.list(Resource.POD, namespace=claim.wanted.namespace, selector=_labels(claim)).items)
