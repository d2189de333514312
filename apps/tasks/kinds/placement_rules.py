"""Where a pod may run: pool and mark are demanded, everything else is a wish (Seed A's sample Deployment)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apps.tasks.domain.naming import LABEL_POOL
from apps.tasks.kinds.base import ManifestInput

Expression = dict[str, Any]

LABEL_MARK = "platform/mark"
LABEL_HOSTNAME = "kubernetes.io/hostname"
PLANNED_WEIGHT = 100
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _demanded(given: ManifestInput) -> list[Expression]:
    expressions: list[Expression] = []
    if given.pool:
        expressions.append({"key": LABEL_POOL, "operator": "In", "values": [given.pool]})
    if given.mark is not None:
        expressions.extend(
            {"key": key, "operator": "In", "values": [value]} for key, value in sorted(given.mark.node_selector.items())
        )
    elif given.pool:
        # CPU pods would fit beside full cards by their requests: nodes with cards take accelerator tasks only (§4).
        expressions.append({"key": LABEL_MARK, "operator": "DoesNotExist"})
    return expressions


def _required(given: ManifestInput, wished: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Terms are alternatives, so ours go into every one of the user's: no term leads out of the pool."""
    demanded = _demanded(given)
    terms = wished.get(_REQUIRED, {}).get("nodeSelectorTerms", [])
    if terms:
        return [{"matchExpressions": [*demanded, *term["matchExpressions"]]} for term in terms]
    return [{"matchExpressions": demanded}] if demanded else []


def _preferred(given: ManifestInput, wished: Mapping[str, Any]) -> list[dict[str, Any]]:
    preferences: list[tuple[int, Expression]] = []
    for preference in given.profile.preferences:
        expression: Expression = {"key": preference.key, "operator": preference.operator}
        if preference.values:
            expression["values"] = list(preference.values)
        preferences.append((preference.weight, expression))
    if given.planned_nodes:
        hosts = {"key": LABEL_HOSTNAME, "operator": "In", "values": list(given.planned_nodes)}
        preferences.append((PLANNED_WEIGHT, hosts))
    ours = [{"weight": weight, "preference": {"matchExpressions": [expression]}} for weight, expression in preferences]
    return [*ours, *wished.get(_PREFERRED, [])]


def affinity(given: ManifestInput) -> dict[str, Any]:
    """The pod's affinity; empty where nothing is demanded or wished."""
    wished: Mapping[str, Any] = given.spec.advanced.get("affinity", {})
    node: dict[str, Any] = {}
    if required := _required(given, wished.get("nodeAffinity", {})):
        node[_REQUIRED] = {"nodeSelectorTerms": required}
    if preferred := _preferred(given, wished.get("nodeAffinity", {})):
        node[_PREFERRED] = preferred
    whole = {"nodeAffinity": node} if node else {}
    return whole | {name: wished[name] for name in ("podAffinity", "podAntiAffinity") if name in wished}


def tolerations(given: ManifestInput) -> Sequence[dict[str, Any]]:
    """The user's tolerations, and the one for nodes that keep others away from their cards."""
    own: list[dict[str, Any]] = list(given.spec.advanced.get("tolerations", []))
    if given.mark is not None:
        own.append({"key": given.mark.resource_name, "operator": "Exists", "effect": "NoSchedule"})
    return own
