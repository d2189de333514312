"""What is done to clusters and their machines; each verb is one transaction, people's changes with their audit row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters import sealing
from apps.clusters.domain.node_labels import label_changes
from apps.clusters.domain.profile import read_profile
from apps.clusters.gateway import registry
from apps.clusters.gateway.port import ClusterFacts, ClusterGateway, GatewayError, Manifest, ObjectRef, Resource
from apps.clusters.models import Cluster, Node, Pool
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.names import DNS_1123_LABEL

# Values and policies of domain.md §8: high and normal are equals, so neither can ever displace the other.
PRIORITY_CLASSES = (
    ("platform-high", 1000, "Never"),
    ("platform-normal", 1000, "PreemptLowerPriority"),
    ("platform-low", 500, "Never"),
)
# A contact is written this seldom while all is well, so that a busy watch does not rewrite the row for every event.
CONTACT_STEP = timedelta(seconds=5)


def add_cluster(
    name: str,
    *,
    server: str,
    token: str,
    ca: str | None = None,
    verify: bool = True,
    namespace_prefix: str = "platform",
    profile: Mapping[str, Any] | None = None,
    by: User,
    now: datetime,
) -> Cluster:
    """Add a cluster, its credentials sealed; the next check asks what it can. Refused: invalid, duplicate_name."""
    if not DNS_1123_LABEL.match(name) or len(name) > 40:
        raise _field("name", _("lower-case letters, digits and hyphens, at most 40 characters"))
    credentials = _checked(server, token, ca, verify=verify)
    try:
        read_profile(profile or {})
    except msgspec.ValidationError as fault:
        raise _field("profile", str(fault)) from fault
    with transaction.atomic():
        try:
            with transaction.atomic():
                cluster = Cluster.objects.create(
                    name=name,
                    server=credentials.server,
                    credentials=sealing.seal_credentials(credentials),
                    credentials_changed_at=now,
                    namespace_prefix=namespace_prefix,
                    profile=dict(profile or {}),
                    created_at=now,
                )
        except IntegrityError as fault:
            raise refuse(
                Code.DUPLICATE_NAME,
                _("There is a cluster of this name already, or the namespace prefix cannot be used."),
                fields={"name": [_("choose another name")]},
            ) from fault
        audit.record("cluster.added", on=cluster, by=by, now=now, after={"name": name, "server": credentials.server})
    return cluster


@transaction.atomic
def rotate_credentials(
    cluster: Cluster, *, server: str, token: str, ca: str | None = None, verify: bool = True, by: User, now: datetime
) -> Cluster:
    """Sign in differently from now on; every process notices by the changed moment. Raises Refused (invalid)."""
    credentials = _checked(server, token, ca, verify=verify)
    before = {"server": cluster.server}
    cluster.server = credentials.server
    cluster.credentials = sealing.seal_credentials(credentials)
    cluster.credentials_changed_at = now
    cluster.save(update_fields=["server", "credentials", "credentials_changed_at"])
    after = {"server": credentials.server, "credentials": "changed"}
    audit.record("cluster.credentials_changed", on=cluster, by=by, now=now, before=before, after=after)
    return cluster


def record_contact(cluster: Cluster, *, now: datetime, facts: ClusterFacts | None = None) -> None:
    """The cluster has answered at ``now``; with ``facts``, also what it said of itself."""
    rows = Cluster.objects.filter(pk=cluster.pk)
    if facts is not None:
        missing = ", ".join(facts.missing_rights)
        rows.update(
            version=facts.version,
            capabilities=sorted(facts.capabilities),
            last_contact_at=now,
            unreachable_since=None,
            last_error=f"missing rights: {missing}"[:500] if missing else "",
        )
        return
    # Only a check clears a fault: it alone has tried everything that the platform needs.
    rows.filter(unreachable_since__isnull=False).update(unreachable_since=None, last_error="")
    rows.exclude(last_contact_at__gt=now - CONTACT_STEP).update(last_contact_at=now)


def record_silence(cluster: Cluster, *, error: GatewayError, now: datetime) -> None:
    """The cluster did not answer, or refused the account: since when is kept, nothing is released (domain.md §11)."""
    Cluster.objects.filter(pk=cluster.pk).update(
        unreachable_since=Coalesce(F("unreachable_since"), now), last_error=str(error)[:500]
    )


@transaction.atomic
def assign_pool(nodes: Sequence[Node], pool: Pool | None, *, by: User, now: datetime, source: str = "") -> None:
    """Put nodes into a pool, or into none; the clusters' labels follow with the next check (``label_nodes``)."""
    for node in (
        Node.objects.select_for_update(of=("self",))
        .select_related("pool")
        .filter(pk__in=[n.pk for n in nodes])
        .order_by("pk")
    ):
        if node.pool_id == (pool.pk if pool else None):
            continue
        before, after = {"pool": node.pool.name if node.pool else None}, {"pool": pool.name if pool else None}
        Node.objects.filter(pk=node.pk).update(pool=pool)
        audit.record("node.pool_set", on=node, by=by, now=now, before=before, after=after, source=source)


def label_nodes(cluster: Cluster, *, gateway: ClusterGateway | None = None) -> int:
    """Write each node's pool and mark as its labels; returns how many nodes differed. Raises GatewayError."""
    gateway = gateway or registry.gateway_for(cluster)
    changed = 0
    for node in Node.objects.select_related("pool", "mark").filter(cluster=cluster, gone_at=None):
        pool, mark = node.pool.name if node.pool else None, node.mark.mark if node.mark else None
        selector = node.mark.node_selector if node.mark else {}
        if changes := label_changes(node.labels, pool=pool, mark=mark, selector=selector):
            gateway.merge(ObjectRef(Resource.NODE, node.name), {"metadata": {"labels": changes}})
            changed += 1
    return changed


def priority_classes() -> tuple[Manifest, ...]:
    """The PriorityClasses that every cluster has (domain.md §8)."""
    return tuple(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "platform"}},
            "value": value,
            "preemptionPolicy": policy,
            "globalDefault": False,
            "description": "Set by the platform by a task's priority.",
        }
        for name, value, policy in PRIORITY_CLASSES
    )


def install_priority_classes(gateway: ClusterGateway) -> None:
    """Make the three PriorityClasses exist; a class of the same name is left as it is. Raises GatewayError."""
    for manifest in priority_classes():
        if gateway.read(ObjectRef(Resource.PRIORITY_CLASS, manifest["metadata"]["name"])) is None:
            gateway.create(Resource.PRIORITY_CLASS, manifest)


def check(cluster: Cluster, *, now: datetime) -> bool:
    """Ask the cluster what it is and set up what tasks need there; False when it did not answer or would not."""
    try:
        gateway = registry.gateway_for(cluster)
        facts = gateway.facts()
        record_contact(cluster, now=now, facts=facts)
        install_priority_classes(gateway)
        label_nodes(cluster, gateway=gateway)
    except GatewayError as error:
        record_silence(cluster, error=error, now=now)
        return False
    return True


def cluster_keys() -> list[int]:
    """Every cluster, also those that take no tasks: what runs there is still looked after."""
    return list(Cluster.objects.order_by("pk").values_list("pk", flat=True))


def check_by_key(pk: int, *, now: datetime) -> bool:
    """``check`` for a message that names a cluster; one removed meanwhile is fine."""
    cluster = Cluster.objects.filter(pk=pk).first()
    return cluster is not None and check(cluster, now=now)


def credentials_fault(server: str, token: str, ca: str | None) -> Refusal | None:
    """What is wrong with these credentials, per field, before anything is saved."""
    try:
        _checked(server, token, ca, verify=True)
    except Refused as refused:
        return refused.refusal
    return None


def _checked(server: str, token: str, ca: str | None, *, verify: bool) -> sealing.Credentials:
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise _field("server", _("an address such as https://10.0.0.1:6443"))
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise _field("token", _("a bearer token of printable characters without spaces"))
    if ca is not None and "BEGIN CERTIFICATE" not in ca:
        raise _field("ca", _("certificates in PEM form"))
    return sealing.Credentials(server.rstrip("/"), token, ca or None, verify)


def _field(path: str, message: str) -> Refused:
    return refuse(Code.INVALID, _("The cluster cannot be saved like this."), fields={path: [message]})
