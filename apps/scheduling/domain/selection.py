"""Which nodes a task accepts and which accept it: labels, required node rules and taints, as Kubernetes reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.clusters.domain.inventory import Taint

KEEPS_AWAY = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Toleration:
    """``operator`` is Equal or Exists; an empty key with Exists tolerates all, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def covers(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return self.key in ("", taint.key)
        return (self.key, self.value) == (taint.key, taint.value)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One node rule: In, NotIn, Exists, DoesNotExist, Gt or Lt over a label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def met_by(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        limit = self.values[0] if self.values else ""
        if not (value.lstrip("-").isdecimal() and limit.lstrip("-").isdecimal()):
            return False
        return int(value) > int(limit) if self.operator == "Gt" else int(value) < int(limit)


@dataclass(frozen=True, slots=True)
class Selection:
    """Labels that must be there, alternatives of rules of which one must hold whole, and what is tolerated."""

    labels: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[Requirement, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()

    def accepts(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels is one the task may run on."""
        if any(labels.get(key) != value for key, value in self.labels):
            return False
        return not self.terms or any(all(rule.met_by(labels) for rule in term) for term in self.terms)

    def tolerates(self, taints: Sequence[Taint]) -> bool:
        """Whether no taint of the node keeps the task away."""
        away = (taint for taint in taints if taint.effect in KEEPS_AWAY)
        return all(any(toleration.covers(taint) for toleration in self.tolerations) for taint in away)


def read_selection(advanced: Mapping[str, Any], *, resource_name: str | None) -> Selection:
    """The rules in a spec's checked ``advanced`` part, and the toleration that every task with cards brings."""
    own = [_toleration(given) for given in advanced.get("tolerations", ())]
    if resource_name is not None:
        own.append(Toleration(resource_name, "Exists", effect="NoSchedule"))
    affinity = advanced.get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    terms = tuple(tuple(_requirement(rule) for rule in term.get("matchExpressions", ())) for term in required)
    return Selection(tuple(sorted(advanced.get("node_selector", {}).items())), terms, tuple(own))


def _toleration(given: Mapping[str, Any]) -> Toleration:
    return Toleration(
        given.get("key") or "", given.get("operator") or "Equal", given.get("value") or "", given.get("effect") or ""
    )


def _requirement(given: Mapping[str, Any]) -> Requirement:
    return Requirement(given.get("key") or "", given.get("operator") or "In", tuple(given.get("values") or ()))


def read_taints(stored: Sequence[Mapping[str, Any]]) -> tuple[Taint, ...]:
    """A node's taints as the cluster told them; a null field reads as empty (F18)."""
    return tuple(Taint(given.get("key") or "", given.get("value") or "", given.get("effect") or "") for given in stored)
