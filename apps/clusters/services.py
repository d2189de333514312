"""What is done to clusters and their machines; each verb is one transaction, people's changes with their audit row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters import sealing, selectors
from apps.clusters.domain.certificates import ca_fault
from apps.clusters.domain.checklist import Standing, Verdict, checklist, missing_rights, needs_full, renewed, verdict
from apps.clusters.domain.checklist_rows import Check, State, bounded, from_wire, wire
from apps.clusters.domain.checklist_words import explained
from apps.clusters.domain.node_labels import label_changes
from apps.clusters.domain.profile import read_profile
from apps.clusters.domain.sign_in import SignIn, address_fault, token_fault
from apps.clusters.domain.survey import Survey
from apps.clusters.explanations import described
from apps.clusters.gateway import registry
from apps.clusters.gateway.port import (
    ClusterFacts,
    ClusterGateway,
    Forbidden,
    GatewayError,
    Manifest,
    ObjectRef,
    Resource,
)
from apps.clusters.models import Cluster, Node, Pool
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.names import DNS_1035_LABEL, DNS_1123_LABEL

# Values and policies of domain.md §8: high and normal are equals, so neither can ever displace the other.
PRIORITY_CLASSES = (
    ("platform-high", 1000, "Never"),
    ("platform-normal", 1000, "PreemptLowerPriority"),
    ("platform-low", 500, "Never"),
)
# A contact is written this seldom while all is well, so that a busy watch does not rewrite the row for every event.
CONTACT_STEP = timedelta(seconds=5)
# Rights, classes, storage and nodes are asked this seldom while all is well: listing a thousand nodes is not free.
FULL_EVERY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Draft:
    """A cluster that somebody wants to add."""

    name: str
    sign_in: SignIn
    namespace_prefix: str = "platform"
    profile: Mapping[str, Any] = field(default_factory=dict)


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
    """Add a cluster unseen; its next check asks what it can. Refused: invalid, duplicate_name."""
    sign_in = SignIn(server.rstrip("/"), token, ca or None, verify=verify)
    return add_examined(Draft(name, sign_in, namespace_prefix, profile or {}), (), by=by, now=now)


def look_over(draft: Draft, *, now: datetime) -> tuple[Check, ...]:
    """What a cluster that somebody wants to add is like; nothing is kept. Refused: invalid, duplicate_name."""
    _check_draft(draft, now=now)
    return examine(draft.sign_in, now=now)


def examine(sign_in: SignIn, *, now: datetime, cluster: Cluster | None = None) -> tuple[Check, ...]:
    """The check list of whatever answers to this, within half a minute; for ``cluster``, whether it is the same one.

    Raises Refused (invalid) at its field.
    """
    _check_sign_in(sign_in, now=now)
    try:
        survey = registry.survey_of(_credentials(sign_in))
    except Forbidden as error:
        return (_unusable(error),)
    return _checklist(survey, cluster, now=now)


def accept(checks: Sequence[Check], *, anyway: bool) -> None:
    """Warnings are taken; ``anyway`` takes one that nobody reaches or that is another than before, too.

    Raises Refused (invalid) with ``reason`` and ``checks``.
    """
    found = verdict(checks)
    if found is Verdict.FITS or (found is not Verdict.UNFIT and anyway):
        return
    faults = [explained(row) for row in checks if row.state is State.FAULT]
    details = {
        Verdict.UNREACHABLE: _("Nobody reaches this cluster."),
        Verdict.ANOTHER: _("This is another cluster than before."),
    }
    detail = details.get(found, _("This cluster cannot be used yet."))
    fields = {"server": [line for fault in faults for line in (fault.sentence, fault.remedy) if line]}
    raise refuse(Code.INVALID, detail, fields=fields, reason=found.value, checks=described(checks))


def add_examined(draft: Draft, checks: Sequence[Check], *, by: User, now: datetime, source: str = "") -> Cluster:
    """Store a cluster with the check list that it was taken by, its credentials sealed, whole or not at all."""
    _check_draft(draft, now=now)
    try:
        with transaction.atomic():
            cluster = Cluster.objects.create(
                name=draft.name,
                server=draft.sign_in.server,
                credentials=sealing.seal_credentials(_credentials(draft.sign_in)),
                credentials_changed_at=now,
                namespace_prefix=draft.namespace_prefix,
                profile=dict(draft.profile),
                created_at=now,
                **_examined(checks, now=now),
            )
            after = {"name": draft.name, "server": draft.sign_in.server}
            audit.record("cluster.added", on=cluster, by=by, now=now, after=after, source=source)
    except IntegrityError as fault:
        raise _taken() from fault
    return cluster


def rotate_credentials(
    cluster: Cluster, *, server: str, token: str, ca: str | None = None, verify: bool = True, by: User, now: datetime
) -> Cluster:
    """Sign in differently from now on, unseen. Raises Refused (invalid)."""
    sign_in = SignIn(server.rstrip("/"), token, ca or None, verify=verify)
    return rotate_examined(cluster, sign_in, (), by=by, now=now)


@transaction.atomic
def rotate_examined(
    cluster: Cluster, sign_in: SignIn, checks: Sequence[Check], *, by: User, now: datetime, source: str = ""
) -> Cluster:
    """Sign in like this from now on; every process notices by the changed moment. Raises Refused (invalid)."""
    _check_sign_in(sign_in, now=now)
    before = {"server": cluster.server}
    changed = {
        "server": sign_in.server,
        "credentials": sealing.seal_credentials(_credentials(sign_in)),
        "credentials_changed_at": now,
        **_examined(checks, now=now),
    }
    for name, value in changed.items():
        setattr(cluster, name, value)
    cluster.save(update_fields=list(changed))
    after = {"server": sign_in.server, "credentials": "changed"}
    audit.record("cluster.credentials_changed", on=cluster, by=by, now=now, before=before, after=after, source=source)
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


def check(cluster: Cluster, *, now: datetime, full: bool = False) -> bool:
    """Ask the cluster what it is and set up what tasks need there; False when it did not answer or would not.

    Its check list is renewed; the costly rows of it once in FULL_EVERY, at once when something was at fault or
    ``full`` is wished.
    """
    before = from_wire(cluster.checks)
    full = full or needs_full(before) or cluster.surveyed_at is None or now - cluster.surveyed_at >= FULL_EVERY
    try:
        gateway = registry.gateway_for(cluster)
    except Forbidden as error:
        record_silence(cluster, error=error, now=now)
        _record_checks(cluster, (_unusable(error),), now=now, full=False)
        return False
    survey = gateway.survey(full=False)
    trouble = _set_up(cluster, gateway) if survey.answered else None
    if survey.answered and full:
        survey = gateway.survey(full=True)
    found = _checklist(survey, cluster, now=now)
    found = found if full else renewed(before, found)
    _record_checks(cluster, found, now=now, full=full and survey.answered)
    return _record_answer(cluster, survey, found, trouble, now=now)


def _set_up(cluster: Cluster, gateway: ClusterGateway) -> GatewayError | None:
    """What tasks need on the cluster; None, or why it could not all be done."""
    try:
        install_priority_classes(gateway)
        label_nodes(cluster, gateway=gateway)
    except GatewayError as error:
        return error
    return None


def _record_answer(
    cluster: Cluster, survey: Survey, checks: Sequence[Check], trouble: GatewayError | None, *, now: datetime
) -> bool:
    fault = survey.fault
    if fault is not None or not isinstance(survey.version, str) or not isinstance(survey.groups, frozenset):
        words = (
            fault.text if fault is not None and fault.text else next((explained(r).sentence for r in checks[-1:]), "")
        )
        record_silence(cluster, error=GatewayError(words), now=now)
        return False
    if trouble is not None and trouble.transient:
        record_silence(cluster, error=trouble, now=now)
        return False
    record_contact(cluster, now=now, facts=ClusterFacts(survey.version[:40], survey.groups, missing_rights(checks)))
    if trouble is not None:
        Cluster.objects.filter(pk=cluster.pk).update(last_error=str(trouble)[:500])
    return trouble is None


def _record_checks(cluster: Cluster, checks: Sequence[Check], *, now: datetime, full: bool) -> None:
    moments = {"checked_at": now, "surveyed_at": now} if full else {"checked_at": now}
    # Seen for the first time, it is kept; another one later is a fault until somebody says that it is right.
    seen = {} if cluster.identity else _identity(checks)
    Cluster.objects.filter(pk=cluster.pk).update(checks=wire(checks), **moments, **seen)


def _identity(checks: Sequence[Check]) -> dict[str, str]:
    uid = next((str(row.numbers["uid"]) for row in checks if row.token in {"identity", "another_cluster"}), "")
    return {"identity": uid} if uid else {}


def _checklist(survey: Survey, cluster: Cluster | None, *, now: datetime) -> tuple[Check, ...]:
    wanted = {name: (value, policy) for name, value, policy in PRIORITY_CLASSES}
    known = Standing(cluster.identity if cluster else "", selectors.identities(without=cluster))
    return checklist(survey, marks=selectors.mark_facts(), classes=wanted, now=now, standing=known)


def _unusable(error: GatewayError) -> Check:
    return Check("credentials", State.FAULT, "credentials_unusable", {"text": bounded(str(error))})


def _examined(checks: Sequence[Check], *, now: datetime) -> dict[str, Any]:
    """A row's values after an examination; without one its next check asks everything."""
    if not checks:
        return {"surveyed_at": None}
    found: dict[str, Any] = {"checks": wire(checks), "checked_at": now, "surveyed_at": now, **_identity(checks)}
    if verdict(checks) is Verdict.UNREACHABLE:
        return found | {"unreachable_since": now, "last_error": explained(checks[0]).sentence[:500]}
    version = next((str(row.numbers["version"]) for row in checks if row.name == "kubernetes"), "")
    return found | {"version": version[:40], "last_contact_at": now, "unreachable_since": None, "last_error": ""}


def cluster_keys() -> list[int]:
    """Every cluster, also those that take no tasks: what runs there is still looked after."""
    return list(Cluster.objects.order_by("pk").values_list("pk", flat=True))


def check_by_key(pk: int, *, now: datetime) -> bool:
    """``check`` for a message that names a cluster; one removed meanwhile is fine."""
    cluster = Cluster.objects.filter(pk=pk).first()
    return cluster is not None and check(cluster, now=now)


def credentials_fault(server: str, token: str, ca: str | None, *, now: datetime) -> Refusal | None:
    """What is wrong with these credentials, per field, before anything is saved."""
    try:
        _check_sign_in(SignIn(server.rstrip("/"), token, ca), now=now)
    except Refused as refused:
        return refused.refusal
    return None


def _check_draft(draft: Draft, *, now: datetime) -> None:
    if not DNS_1123_LABEL.match(draft.name) or len(draft.name) > 40:
        raise _field("name", _("lower-case letters, digits and hyphens, at most 40 characters"))
    if not DNS_1035_LABEL.match(draft.namespace_prefix) or len(draft.namespace_prefix) > 20:
        message = _("lower-case letters, digits and hyphens, beginning with a letter, at most 20 characters")
        raise _field("namespace_prefix", message)
    _check_sign_in(draft.sign_in, now=now)
    try:
        read_profile(draft.profile)
    except msgspec.ValidationError as fault:
        raise _field("profile", str(fault)) from fault
    if Cluster.objects.filter(name=draft.name).exists():
        raise _taken()


def _check_sign_in(sign_in: SignIn, *, now: datetime) -> None:
    wrong = address_fault(sign_in.server)
    if wrong is not None:
        raise _field("server", wrong[1])
    fault = token_fault(sign_in.token)
    if fault is not None and not (sign_in.client_certificate and not sign_in.token):
        raise _field("token", fault)
    if sign_in.ca is not None and ca_fault(sign_in.ca, now) is not None:
        raise _field("ca", _("certificates in PEM form that have not expired"))


def _credentials(sign_in: SignIn) -> sealing.Credentials:
    return sealing.Credentials(**{name: getattr(sign_in, name) for name in sealing.Credentials.__struct_fields__})


def _taken() -> Refused:
    detail = _("There is a cluster of this name already.")
    return refuse(Code.DUPLICATE_NAME, detail, fields={"name": [_("choose another name")]})


def _field(path: str, message: str) -> Refused:
    return refuse(Code.INVALID, _("The cluster cannot be saved like this."), fields={path: [message]})
