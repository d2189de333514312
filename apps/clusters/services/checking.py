"""Asking a cluster what it is, keeping the answer as its check list, setting up what tasks need there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.clusters import selectors
from apps.clusters.domain.checklist import Standing, checklist, missing_rights, needs_full, renewed
from apps.clusters.domain.checklist_rows import Check, State, bounded, from_wire, wire
from apps.clusters.domain.checklist_words import explained
from apps.clusters.domain.survey import Survey
from apps.clusters.gateway import registry
from apps.clusters.gateway.port import ClusterFacts, ClusterGateway, Forbidden, GatewayError
from apps.clusters.models import Cluster
from apps.clusters.services.contact import record_contact, record_silence
from apps.clusters.services.ground import PRIORITY_CLASSES, install_priority_classes, label_nodes

# Rights, classes, storage and nodes are asked this seldom while all is well: listing a thousand nodes is not free.
FULL_EVERY = timedelta(minutes=5)


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
        _record_checks(cluster, (unusable(error),), now=now, full=False)
        return False
    survey = gateway.survey(full=False)
    trouble = _set_up(cluster, gateway) if survey.answered else None
    if survey.answered and full:
        survey = gateway.survey(full=True)
    found = checklist_of(survey, cluster, now=now)
    found = found if full else renewed(before, found)
    _record_checks(cluster, found, now=now, full=full and survey.answered)
    return _record_answer(cluster, survey, found, trouble, now=now)


def check_by_key(pk: int, *, now: datetime) -> bool:
    """``check`` for a message that names a cluster; one removed meanwhile is fine."""
    cluster = Cluster.objects.filter(pk=pk).first()
    return cluster is not None and check(cluster, now=now)


def cluster_keys() -> list[int]:
    """Every cluster, also those that take no tasks: what runs there is still looked after."""
    return list(Cluster.objects.order_by("pk").values_list("pk", flat=True))


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
    seen = {} if cluster.identity else identity_in(checks)
    Cluster.objects.filter(pk=cluster.pk).update(checks=wire(checks), **moments, **seen)


def checklist_of(survey: Survey, cluster: Cluster | None, *, now: datetime) -> tuple[Check, ...]:
    wanted = {name: (value, policy) for name, value, policy in PRIORITY_CLASSES}
    known = Standing(cluster.identity if cluster else "", selectors.identities(without=cluster))
    return checklist(survey, marks=selectors.mark_facts(), classes=wanted, now=now, standing=known)


def identity_in(checks: Sequence[Check]) -> dict[str, str]:
    uid = next((str(row.numbers["uid"]) for row in checks if row.token in {"identity", "another_cluster"}), "")
    return {"identity": uid} if uid else {}


def unusable(error: GatewayError) -> Check:
    return Check("credentials", State.FAULT, "credentials_unusable", {"text": bounded(str(error))})
