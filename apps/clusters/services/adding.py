"""Adding a cluster and changing how the platform signs in to it: looked over first, then stored whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit import services as audit
from apps.clusters import sealing
from apps.clusters.domain.certificates import ca_fault
from apps.clusters.domain.checklist import Verdict, verdict
from apps.clusters.domain.checklist_rows import Check, State, wire
from apps.clusters.domain.checklist_words import explained
from apps.clusters.domain.profile import read_profile
from apps.clusters.domain.sign_in import SignIn, address_fault, token_fault
from apps.clusters.explanations import described
from apps.clusters.gateway import registry
from apps.clusters.gateway.port import Forbidden
from apps.clusters.models import Cluster
from apps.clusters.services.checking import checklist_of, identity_in, unusable
from apps.kernel.errors import Code, Refusal, Refused, refuse
from apps.kernel.names import DNS_1035_LABEL, DNS_1123_LABEL


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
        return (unusable(error),)
    return checklist_of(survey, cluster, now=now)


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


def credentials_fault(server: str, token: str, ca: str | None, *, now: datetime) -> Refusal | None:
    """What is wrong with these credentials, per field, before anything is saved."""
    try:
        _check_sign_in(SignIn(server.rstrip("/"), token, ca), now=now)
    except Refused as refused:
        return refused.refusal
    return None


def _examined(checks: Sequence[Check], *, now: datetime) -> dict[str, Any]:
    """A row's values after an examination; without one its next check asks everything."""
    if not checks:
        return {"surveyed_at": None}
    found: dict[str, Any] = {"checks": wire(checks), "checked_at": now, "surveyed_at": now, **identity_in(checks)}
    if verdict(checks) is Verdict.UNREACHABLE:
        return found | {"unreachable_since": now, "last_error": explained(checks[0]).sentence[:500]}
    version = next((str(row.numbers["version"]) for row in checks if row.name == "kubernetes"), "")
    return found | {"version": version[:40], "last_contact_at": now, "unreachable_since": None, "last_error": ""}


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
