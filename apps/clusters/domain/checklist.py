"""A cluster's check list: what was found out, turned into rows that say what is well and what is not (issue 4, part 6).

Rows keep a token and numbers; sentences and what to do are made of them when somebody reads (checklist_words).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from apps.clusters.domain.checklist_nodes import node_rows
from apps.clusters.domain.checklist_rows import Check, State, bounded, days_left, failed
from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.rights import NEEDED_RIGHTS, Right
from apps.clusters.domain.survey import Failure, Survey

SOON_DAYS = 14
SKEW_SECONDS = 5
# What the platform submits, and whether a cluster without it is of no use or merely takes fewer kinds of task.
CAPABILITIES = (
    ("Job", "batch/v1", State.FAULT),
    ("Deployment", "apps/v1", State.FAULT),
    ("MPIJob", "kubeflow.org/v2beta1", State.WARN),
    ("SparkApplication", "sparkoperator.k8s.io/v1beta2", State.WARN),
)
DEFAULT_STORAGE = "storageclass.kubernetes.io/is-default-class"
# Rows that only a full survey renews; a light one keeps them as they were.
SLOW = ("right", "priority_class", "storage", "nodes", "mark", "cards")


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of clusters already: this one's identity, and the other ones' names by theirs."""

    identity: str = ""
    others: Mapping[str, str] = field(default_factory=dict)


class Verdict(StrEnum):
    """What the list says about taking the cluster; all but ``UNFIT`` may be taken when that is asked for."""

    FITS = "fits"
    UNREACHABLE = "unreachable"
    ANOTHER = "another_cluster"
    UNFIT = "unfit"


def checklist(
    survey: Survey,
    *,
    marks: Sequence[MarkFacts],
    classes: Mapping[str, tuple[int, str]],
    now: datetime,
    standing: Standing = Standing(),
) -> tuple[Check, ...]:
    """The rows in the order in which things depend on each other; behind a fault that hides the rest nothing follows.

    ``classes`` are the PriorityClasses wanted: value and preemption policy by name.
    """
    known = [_identity(survey.identity, standing)] if survey.identity and survey.answered else []
    return (*_rows(survey, marks, classes, now), *known)


def verdict(checks: Sequence[Check]) -> Verdict:
    """Warnings keep nobody out."""
    faults = {row.token if row.name == "identity" else row.name for row in checks if row.state is State.FAULT}
    if "api" in faults:
        return Verdict.UNREACHABLE
    if faults == {"another_cluster"}:
        return Verdict.ANOTHER
    return Verdict.UNFIT if faults else Verdict.FITS


def renewed(before: Sequence[Check], light: Sequence[Check]) -> tuple[Check, ...]:
    """The list after a light survey: its own rows, and the slow ones as they were unless a fault hides them."""
    if verdict(light) is not Verdict.FITS:
        return tuple(light)
    return (*light, *(row for row in before if row.name in SLOW))


def needs_full(before: Sequence[Check]) -> bool:
    """Whether the slow rows are missing or one of any kind is at fault, so that a repair shows soon."""
    return verdict(before) is not Verdict.FITS or not any(row.name in SLOW for row in before)


def missing_rights(checks: Sequence[Check]) -> list[str]:
    """The denied rights as ``create jobs``."""
    denied = (row.numbers for row in checks if row.token == "denied")  # noqa: S105 - the name of a finding, no secret
    return [f"{numbers.get('verb')} {numbers.get('resource')}" for numbers in denied]


def _rows(
    survey: Survey, marks: Sequence[MarkFacts], classes: Mapping[str, tuple[int, str]], now: datetime
) -> Iterator[Check]:
    if survey.reached is not None:
        yield failed("api", survey.reached)
        return
    yield Check("api", State.OK, "reached", {"address": bounded(survey.address)})
    certificate = _certificate(survey, now)
    yield certificate
    if certificate.state is State.FAULT or survey.version is None:
        return
    if survey.skew is not None:
        off = abs(survey.skew) > SKEW_SECONDS
        token = "clock_off" if off else "clock"
        yield Check("clock", State.WARN if off else State.OK, token, {"seconds": abs(survey.skew)})
    closed = next((part for part in (survey.version, survey.groups) if isinstance(part, Failure)), None)
    if closed is not None:
        # Some servers tell their version to strangers, so the second question counts as much as the first.
        yield failed("credentials" if closed.token == "credentials_refused" else "kubernetes", closed)  # noqa: S105 - the name of a finding, no secret
        return
    yield _credentials(survey, now)
    yield Check("kubernetes", State.OK, "kubernetes", {"version": bounded(str(survey.version))})
    yield from _capabilities(survey.groups)
    yield from _rights(survey.denied)
    yield from _classes(survey.priority_classes, classes)
    yield from _storage(survey.storage_classes)
    yield from node_rows(survey.nodes, marks)


def _identity(identity: str, standing: Standing) -> Check:
    """Tasks of one cluster must not be looked for on another, nor one cluster's cards be counted twice."""
    numbers = {"uid": bounded(identity)}
    if identity in standing.others:
        return Check("identity", State.FAULT, "already_added", numbers | {"cluster": standing.others[identity]})
    if standing.identity and standing.identity != identity:
        return Check("identity", State.FAULT, "another_cluster", numbers)
    return Check("identity", State.OK, "identity", numbers)


def _certificate(survey: Survey, now: datetime) -> Check:
    seen = survey.certificate
    if seen is None:
        return Check("certificate", State.OK, "no_tls")
    if isinstance(seen, Failure):
        return failed("certificate", seen)
    days = days_left(seen.until, now)
    numbers: dict[str, Any] = {"until": seen.until.date().isoformat(), "days": days}
    if seen.fault:
        more = {"names": [bounded(name) for name in seen.names[:5]], "issuer": bounded(seen.issuer)}
        return Check("certificate", State.FAULT, seen.fault, {**numbers, **more, "address": bounded(survey.address)})
    if not seen.checked:
        return Check("certificate", State.WARN, "certificate_unchecked", numbers)
    soon = days < SOON_DAYS
    return Check(
        "certificate", State.WARN if soon else State.OK, "certificate_soon" if soon else "certificate", numbers
    )


def _credentials(survey: Survey, now: datetime) -> Check:
    if survey.until is None:
        return Check("credentials", State.OK, "signed_in", {"by": survey.by})
    days = days_left(survey.until, now)
    numbers = {"by": survey.by, "until": survey.until.isoformat(timespec="minutes"), "days": days}
    soon = days < SOON_DAYS
    return Check(
        "credentials", State.WARN if soon else State.OK, "credentials_soon" if soon else "signed_in_until", numbers
    )


def _capabilities(groups: frozenset[str] | Failure | None) -> Iterator[Check]:
    if not isinstance(groups, frozenset):
        return
    for kind, api, without in CAPABILITIES:
        there = api in groups
        token = "served" if there else "not_served" if without is State.FAULT else "operator_missing"
        yield Check("capability", State.OK if there else without, token, {"kind": kind, "api": api})


def _rights(denied: Sequence[Right] | Failure | None) -> Iterator[Check]:
    if isinstance(denied, Failure):
        yield failed("right", denied, State.WARN)
    elif denied is not None:
        for right in NEEDED_RIGHTS:
            state, token = (State.FAULT, "denied") if right in denied else (State.OK, "allowed")
            numbers = {"verb": right.verb, "group": right.group, "resource": right.resource}
            yield Check("right", state, token, numbers)


def _classes(found: object, wanted: Mapping[str, tuple[int, str]]) -> Iterator[Check]:
    if isinstance(found, Failure):
        yield failed("priority_class", found, State.WARN)
    elif isinstance(found, Sequence):
        there = {str(_part(item, "metadata").get("name")): item for item in found}
        for name, (value, policy) in wanted.items():
            yield _class(name, value, policy, there.get(name))


def _class(name: str, value: int, policy: str, item: object) -> Check:
    if not isinstance(item, Mapping):
        return Check("priority_class", State.WARN, "class_missing", {"class": name, "value": value})
    policy_there = str(item.get("preemptionPolicy") or "PreemptLowerPriority")
    if item.get("value") == value and policy_there == policy:
        return Check("priority_class", State.OK, "class", {"class": name, "value": value})
    there = f"{item.get('value')}, {policy_there}"
    numbers = {"class": name, "wanted": f"{value}, {policy}", "found": bounded(there)}
    return Check("priority_class", State.WARN, "class_differs", numbers)


def _storage(found: object) -> Iterator[Check]:
    if isinstance(found, Failure):
        yield failed("storage", found, State.WARN)
    elif isinstance(found, Sequence):
        names = [bounded(str(_part(item, "metadata").get("name") or "")) for item in found]
        default = [name for name, item in zip(names, found, strict=True) if _is_default(item)]
        if not names:
            yield Check("storage", State.WARN, "storage_none")
        elif not default:
            yield Check("storage", State.WARN, "storage_no_default", {"first": names[0], "count": len(names)})
        else:
            yield Check("storage", State.OK, "storage", {"default": default[0], "count": len(names)})


def _is_default(item: object) -> bool:
    annotations = _part(item, "metadata").get("annotations")
    return isinstance(annotations, Mapping) and annotations.get(DEFAULT_STORAGE) == "true"


def _part(item: object, name: str) -> Mapping[str, Any]:
    found = item.get(name) if isinstance(item, Mapping) else None
    return found if isinstance(found, Mapping) else {}
