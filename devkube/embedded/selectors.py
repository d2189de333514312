"""Label and field selectors, as query strings and as objects."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from devkube.embedded.errors import ApiError, bad_request
from devkube.embedded.objects import Obj, labels_of
from devkube.embedded.resources import Resource

Match: TypeAlias = Callable[[Obj], bool]

_SET = re.compile(r"^\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*$")
_EQUAL = re.compile(r"^\s*([^\s!=<>]+)\s*(==|!=|=)\s*([^\s!=<>]*)\s*$")
_ORDER = re.compile(r"^\s*([^\s!=<>]+)\s*([<>])\s*(-?\d+)\s*$")
_EXISTS = re.compile(r"^\s*(!?)\s*([^\s!=<>()]+)\s*$")
_KEY = re.compile(r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$", re.ASCII)
_VALUE = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector."""

    key: str
    operator: str
    values: frozenset[str]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels satisfy this term."""
        has = self.key in labels
        if self.operator == "Exists":
            return has
        if self.operator == "DoesNotExist":
            return not has
        if self.operator == "In":
            return has and labels[self.key] in self.values
        if self.operator == "NotIn":
            return not has or labels[self.key] not in self.values
        return has and _ordered(labels[self.key], self.operator, next(iter(self.values), ""))


def _ordered(value: str, operator: str, bound: str) -> bool:
    try:
        return int(value) > int(bound) if operator == "Gt" else int(value) < int(bound)
    except ValueError:
        return False


def label_selector(text: str) -> tuple[Requirement, ...]:
    """Read a labelSelector query; raises ApiError 400."""
    return tuple(_requirement(term) for term in _terms(text) if term.strip())


def _terms(text: str) -> list[str]:
    terms, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            terms.append(text[start:at])
            start = at + 1
    return [*terms, text[start:]]


def _requirement(term: str) -> Requirement:
    if found := _SET.match(term):
        values = frozenset(value.strip() for value in found[3].split(","))
        made = Requirement(found[1], "In" if found[2] == "in" else "NotIn", values)
    elif found := _EQUAL.match(term):
        made = Requirement(found[1], "NotIn" if found[2] == "!=" else "In", frozenset([found[3]]))
    elif found := _ORDER.match(term):
        made = Requirement(found[1], "Gt" if found[2] == ">" else "Lt", frozenset([found[3]]))
    elif found := _EXISTS.match(term):
        made = Requirement(found[2], "DoesNotExist" if found[1] else "Exists", frozenset())
    else:
        raise _unparsable(term)
    if not _KEY.match(made.key) or not all(_VALUE.match(value) for value in made.values):
        raise _unparsable(term)
    return made


def _unparsable(term: str) -> ApiError:
    return bad_request(f"unable to parse requirement: found '{term[:200]}', expected: a key, an operator and values")


def labels_match(requirements: tuple[Requirement, ...], labels: Mapping[str, str]) -> bool:
    """True when every term holds."""
    return all(requirement.matches(labels) for requirement in requirements)


def from_object(selector: Obj | None) -> tuple[Requirement, ...] | None:
    """Read a metav1.LabelSelector; None (no selector) selects nothing."""
    if selector is None:
        return None
    terms = [Requirement(key, "In", frozenset([value])) for key, value in (selector.get("matchLabels") or {}).items()]
    expressions = selector.get("matchExpressions") or []
    terms += [Requirement(each["key"], each["operator"], frozenset(each.get("values") or [])) for each in expressions]
    return tuple(terms)


def written(selector: Obj | None) -> str:
    """Write a metav1.LabelSelector as the scale subresource shows it."""
    terms = []
    for term in from_object(selector) or ():
        values = ",".join(sorted(term.values))
        terms.append(
            {
                "Exists": term.key,
                "DoesNotExist": f"!{term.key}",
                "In": f"{term.key}={values}" if len(term.values) == 1 else f"{term.key} in ({values})",
                "NotIn": f"{term.key} notin ({values})",
            }[term.operator]
        )
    return ",".join(terms)


_COMMON = ("metadata.name", "metadata.namespace")
_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "jobs.batch": ("status.successful",),
    "replicasets.apps": ("status.replicas",),
    "services": ("spec.clusterIP", "spec.type"),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
}


def field_selector(text: str, resource: Resource) -> Match | None:
    """Read a fieldSelector query; raises ApiError 400 for a field this resource cannot be selected by."""
    tests: list[tuple[tuple[str, ...], bool, str]] = []
    for term in (part for part in text.split(",") if part.strip()):
        found = re.match(r"^\s*([^!=]+?)\s*(==|!=|=)(.*)$", term)
        if not found:
            raise bad_request(f"invalid selector: '{term[:200]}'; can't understand '{term[:200]}'")
        field, operator, value = found.groups()
        if field not in (*_COMMON, *_FIELDS.get(resource.key, ())):
            raise bad_request(_unsupported(field[:200], resource))
        tests.append((tuple(field.split(".")), operator != "!=", value))
    if not tests:
        return None
    return lambda obj: all((_field(obj, path) == value) is wanted for path, wanted, value in tests)


def _unsupported(field: str, resource: Resource) -> str:
    """The API server's words, which differ by group."""
    if resource.group == "batch":
        return f'field label "{field}" not supported for {resource.kind}'
    return f"field label not supported: {field}"


def _field(obj: Any, path: tuple[str, ...]) -> str:
    if path == ("source",):
        return str((obj.get("source") or {}).get("component") or obj.get("reportingComponent", ""))
    for step in path:
        obj = obj.get(step) if isinstance(obj, dict) else None
    if obj is None:
        return {"unschedulable": "false", "hostNetwork": "false", "phase": ""}.get(path[-1], "")
    return str(obj).lower() if isinstance(obj, bool) else str(obj)


def matcher(labels: str, fields: str, resource: Resource) -> Match | None:
    """Join both selectors of a request; None when all objects match."""
    terms = label_selector(labels) if labels else ()
    by_field = field_selector(fields, resource) if fields else None
    if not terms:
        return by_field
    if by_field is None:
        return lambda obj: labels_match(terms, labels_of(obj))
    return lambda obj: labels_match(terms, labels_of(obj)) and by_field(obj)
