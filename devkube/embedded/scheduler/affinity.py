"""Node selectors, node affinity, taints and tolerations. Pure."""

from collections.abc import Iterable
from typing import Any

from devkube.embedded.objects import Obj, labels_of, name_of, spec
from devkube.embedded.selectors import Requirement, labels_match

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _requirement(each: Obj) -> Requirement:
    return Requirement(each["key"], each["operator"], frozenset(each.get("values") or []))


def term_matches(term: Obj, node: Obj) -> bool:
    """True when a node satisfies a node selector term; an empty term matches nothing."""
    labels = tuple(_requirement(each) for each in term.get("matchExpressions") or [])
    fields = tuple(_requirement(each) for each in term.get("matchFields") or [])
    if not labels and not fields:
        return False
    return labels_match(labels, labels_of(node)) and labels_match(fields, {"metadata.name": name_of(node)})


def node_wanted(pod: Obj, node: Obj) -> bool:
    """True when the pod's node selector and required affinity take this node."""
    body = spec(pod)
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in (body.get("nodeSelector") or {}).items()):
        return False
    must = ((body.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    return must is None or any(term_matches(term, node) for term in must.get("nodeSelectorTerms") or [])


def preference(pod: Obj, node: Obj) -> int:
    """Sum the weights of the preferred terms that this node satisfies."""
    soft = ((spec(pod).get("affinity") or {}).get("nodeAffinity") or {}).get(PREFERRED) or []
    return sum(each["weight"] for each in soft if term_matches(each.get("preference") or {}, node))


def tolerates(toleration: Obj, taint: Obj) -> bool:
    """True when a toleration covers a taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    return operator == "Exists" or bool(toleration.get("value", "") == taint.get("value", ""))


def untolerated(pod: Obj, taints: Iterable[Obj], effects: tuple[str, ...]) -> Obj | None:
    """Return the first taint with one of these effects that the pod does not tolerate."""
    tolerations: list[Any] = spec(pod).get("tolerations") or []
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(each, taint) for each in tolerations):
            return taint
    return None


def bad_taste(pod: Obj, taints: Iterable[Obj]) -> int:
    """Count the PreferNoSchedule taints that the pod does not tolerate."""
    tolerations: list[Any] = spec(pod).get("tolerations") or []
    soft = [taint for taint in taints if taint["effect"] == "PreferNoSchedule"]
    return sum(not any(tolerates(each, taint) for each in tolerations) for taint in soft)
