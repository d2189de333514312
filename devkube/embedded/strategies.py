"""One record per resource: how it is filled in, checked and removed."""

from collections.abc import Callable
from dataclasses import dataclass

from devkube.embedded import resources as r
from devkube.embedded.errors import Cause
from devkube.embedded.objects import Obj
from devkube.embedded.rules import defaults, names, others, pods, workloads


def _nothing(obj: Obj) -> None:
    return None


def _fine(obj: Obj) -> list[Cause]:
    return []


@dataclass(frozen=True, slots=True)
class Strategy:
    """`counts`: metadata.generation counts spec changes. `graceful`: deletion waits for the node.
    `orphans`: children are kept unless the request says otherwise. `carry` brings what was allotted to the old version
    into the new."""

    default: Callable[[Obj], None] = _nothing
    check: Callable[[Obj], list[Cause]] = _fine
    check_update: Callable[[Obj, Obj], list[Cause]] | None = None
    name: Callable[[str], str] = names.dns_subdomain
    counts: bool = False
    annotations_count: bool = False
    status_on_create: bool = False
    graceful: bool = False
    orphans: bool = False
    returns_deleted: bool = False
    carry: Callable[[Obj, Obj], None] | None = None


STRATEGIES: dict[str, Strategy] = {
    r.NAMESPACES.key: Strategy(defaults.namespace, name=names.dns_label, status_on_create=True),
    r.NODES.key: Strategy(defaults.node, others.check_node, status_on_create=True),
    r.PODS.key: Strategy(
        defaults.pod, pods.check_pod, pods.check_pod_update, counts=True, graceful=True, returns_deleted=True
    ),
    r.SERVICES.key: Strategy(
        defaults.service,
        others.check_service,
        carry=defaults.keep_address,
        check_update=others.check_service_update,
        name=names.dns_1035,
        returns_deleted=True,
    ),
    r.EVENTS.key: Strategy(defaults.event, others.check_event),
    r.SECRETS.key: Strategy(defaults.secret, others.check_secret, others.check_data_update),
    r.CONFIGMAPS.key: Strategy(check=others.check_config_map, check_update=others.check_data_update),
    r.CLAIMS.key: Strategy(defaults.claim, others.check_claim, others.check_claim_update, returns_deleted=True),
    r.QUOTAS.key: Strategy(check=others.check_quota, returns_deleted=True),
    r.ACCOUNTS.key: Strategy(returns_deleted=True),
    r.DEPLOYMENTS.key: Strategy(
        defaults.deployment,
        workloads.check_deployment,
        workloads.check_deployment_update,
        counts=True,
        annotations_count=True,
    ),
    r.REPLICASETS.key: Strategy(
        defaults.replica_set, workloads.check_replica_set, workloads.check_replica_set_update, counts=True
    ),
    r.JOBS.key: Strategy(defaults.job, workloads.check_job, workloads.check_job_update, counts=True, orphans=True),
    r.PRIORITY_CLASSES.key: Strategy(
        defaults.priority_class, others.check_priority_class, others.check_priority_class_update, counts=True
    ),
    r.STORAGE_CLASSES.key: Strategy(defaults.storage_class, others.check_storage_class, returns_deleted=True),
    r.LEASES.key: Strategy(check=others.check_lease),
    r.BUDGETS.key: Strategy(check=others.check_budget, counts=True),
}


def strategy_of(resource: r.Resource) -> Strategy:
    """Return the record of a stored resource."""
    return STRATEGIES[resource.key]
