"""The ``advanced`` part of a spec: Kubernetes' own words, whitelisted and shape-checked (rest.md).

Nothing here can leave the pool or reach other scopes: node rules are added to ours, pod rules see their own namespace.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from apps.kernel.text import say as _
from apps.tasks.domain.reading import Faults, Fields, type_word
from apps.tasks.domain.shapes import claim_fault, label_value_fault, own_key_fault, qualified_fault

Plain = dict[str, Any]

LONGEST_GRACE = 86_400
MOST_ANNOTATION_BYTES = 32 * 1024
_PERCENT = re.compile(r"[0-9]{1,3}%")
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")


class Operator(StrEnum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GREATER = "Gt"
    LESS = "Lt"


class TolerationOperator(StrEnum):
    EQUAL = "Equal"
    EXISTS = "Exists"


class TaintEffect(StrEnum):
    ANY = ""
    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


def _kept(**values: object) -> Plain:
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def _toleration(fields: Fields) -> Plain:
    operator = fields.word("operator", TolerationOperator, TolerationOperator.EQUAL)
    key = fields.text("key", longest=317, check=lambda key: qualified_fault(key) if key else None)
    value = fields.text("value", longest=63, check=label_value_fault)
    effect = fields.word("effect", TaintEffect, TaintEffect.ANY)
    seconds = fields.whole("tolerationSeconds", -1, low=0, high=2**31 - 1)
    if operator is TolerationOperator.EXISTS and value:
        fields.fault("value", _("must be left out with the operator Exists"))
    if operator is TolerationOperator.EQUAL and not key:
        fields.fault("key", _("is needed, except with the operator Exists"))
    if seconds >= 0 and effect is not TaintEffect.NO_EXECUTE:
        fields.fault("tolerationSeconds", _("only goes with the effect NoExecute"))
    plain = _kept(key=key, operator=operator.value, value=value, effect=effect.value)
    return plain if seconds < 0 else plain | {"tolerationSeconds": seconds}


def _expression(fields: Fields) -> Plain:
    key = fields.text("key", longest=317, check=qualified_fault, needed=True)
    operator = fields.word("operator", Operator, Operator.IN, needed=True)
    values = fields.texts("values", most=100, longest=63)
    if operator in {Operator.IN, Operator.NOT_IN} and not values:
        fields.fault("values", _("at least one is needed with the operator %(operator)s", operator=operator))
    if operator in {Operator.EXISTS, Operator.DOES_NOT_EXIST} and values:
        fields.fault("values", _("must be left out with the operator %(operator)s", operator=operator))
    if operator in {Operator.GREATER, Operator.LESS} and not (len(values) == 1 and values[0].lstrip("-").isdecimal()):
        fields.fault(
            "values", _("one whole number, as text, is needed with the operator %(operator)s", operator=operator)
        )
    for value in values:
        if message := label_value_fault(value):
            fields.fault("values", message)
    return _kept(key=key, operator=operator.value, values=list(values))


def _pod_expression(fields: Fields) -> Plain:
    plain = _expression(fields)
    if plain["operator"] in {Operator.GREATER, Operator.LESS}:
        fields.fault("operator", _("compares labels of nodes only"))
    return plain


def _each(fields: Fields, name: str, read: Callable[[Fields], Plain], *, most: int = 20) -> list[Plain]:
    found = []
    for item in fields.objects(name, most=most):
        found.append(read(item))
        item.close()
    return found


def _inner(fields: Fields, name: str, read: Callable[[Fields], Plain]) -> Plain:
    given = fields.raw(name)
    if given is None:
        return {}
    inner = Fields(given, fields.at(name), fields.faults)
    plain = read(inner)
    inner.close()
    return plain


def _weight(fields: Fields) -> int:
    if fields.raw("weight") is None:
        fields.fault("weight", _("is needed"))
    return fields.whole("weight", 1, low=1, high=100)


def _node_term(fields: Fields) -> Plain:
    expressions = _each(fields, "matchExpressions", _expression)
    if not expressions:
        fields.fault("matchExpressions", _("at least one is needed"))
    return {"matchExpressions": expressions}


def _node_affinity(fields: Fields) -> Plain:
    def required(inner: Fields) -> Plain:
        terms = _each(inner, "nodeSelectorTerms", _node_term)
        if not terms:
            inner.fault("nodeSelectorTerms", _("at least one is needed"))
        return {"nodeSelectorTerms": terms}

    def preferred(inner: Fields) -> Plain:
        return {"weight": _weight(inner), "preference": _inner(inner, "preference", _node_term)}

    return _kept(
        requiredDuringSchedulingIgnoredDuringExecution=_inner(
            fields, "requiredDuringSchedulingIgnoredDuringExecution", required
        ),
        preferredDuringSchedulingIgnoredDuringExecution=_each(
            fields, "preferredDuringSchedulingIgnoredDuringExecution", preferred
        ),
    )


def _label_selector(fields: Fields) -> Plain:
    labels = fields.pairs("matchLabels", most=20, key=qualified_fault, value=label_value_fault, total=8192)
    return _kept(matchLabels=labels, matchExpressions=_each(fields, "matchExpressions", _pod_expression))


def _pod_term(fields: Fields) -> Plain:
    for name in ("namespaces", "namespaceSelector"):
        if fields.raw(name) is not None:
            fields.fault(name, _("looks into other scopes and is not offered"))
    topology = fields.text("topologyKey", longest=317, check=qualified_fault, needed=True)
    return {"labelSelector": _inner(fields, "labelSelector", _label_selector), "topologyKey": topology}


def _pod_affinity(fields: Fields) -> Plain:
    def weighted(inner: Fields) -> Plain:
        return {"weight": _weight(inner), "podAffinityTerm": _inner(inner, "podAffinityTerm", _pod_term)}

    return _kept(
        requiredDuringSchedulingIgnoredDuringExecution=_each(
            fields, "requiredDuringSchedulingIgnoredDuringExecution", _pod_term
        ),
        preferredDuringSchedulingIgnoredDuringExecution=_each(
            fields, "preferredDuringSchedulingIgnoredDuringExecution", weighted
        ),
    )


def _affinity(fields: Fields) -> Plain:
    return _kept(
        nodeAffinity=_inner(fields, "nodeAffinity", _node_affinity),
        podAffinity=_inner(fields, "podAffinity", _pod_affinity),
        podAntiAffinity=_inner(fields, "podAntiAffinity", _pod_affinity),
    )


def _host_alias(fields: Fields) -> Plain:
    address = fields.text("ip", longest=45, needed=True)
    try:
        ipaddress.ip_address(address)
    except ValueError:
        fields.fault("ip", _("is no IP address"))
    hostnames = fields.texts("hostnames", most=20, longest=253)
    if not hostnames or any(claim_fault(name) for name in hostnames):
        fields.fault(
            "hostnames", _("at least one host name is needed, of lower-case letters, digits, hyphens and dots")
        )
    return {"ip": address, "hostnames": list(hostnames)}


def _count_or_percent(fields: Fields, name: str) -> int | str | None:
    value = fields.raw(name)
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) <= 100:
        return value
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10_000):
        return value
    fields.fault(name, _("must be a count or a percentage such as 25%%, this is %(type)s", type=type_word(value)))
    return None


def _seconds(fields: Fields, name: str, *, low: int, high: int) -> int | None:
    if fields.raw(name) is None:
        return None
    return fields.whole(name, low, low=low, high=high)


def snake_keys(given: object) -> object:
    """The top names of ``advanced`` in this API's spelling: ``hostAliases`` means ``host_aliases``."""
    if not isinstance(given, Mapping):
        return given
    return {_CAMEL.sub(r"_\1", key).lower() if isinstance(key, str) else key: value for key, value in given.items()}


def read_advanced(given: object, path: str, faults: Faults) -> Plain:
    """The whitelisted parts of ``advanced`` as plain JSON; every fault under its path."""
    if given is None:
        return {}
    fields = Fields(snake_keys(given), path, faults)
    surge, unavailable = _count_or_percent(fields, "max_surge"), _count_or_percent(fields, "max_unavailable")
    if surge in (0, "0%") and unavailable in (0, "0%"):
        fields.fault("max_unavailable", _("cannot be 0 when max_surge is 0: no update could begin"))
    plain: Plain = {
        "node_selector": fields.pairs("node_selector", most=20, key=own_key_fault, value=label_value_fault, total=8192),
        "annotations": fields.pairs(
            "annotations", most=50, key=own_key_fault, value=lambda _value: None, total=MOST_ANNOTATION_BYTES
        ),
        "tolerations": _each(fields, "tolerations", _toleration),
        "affinity": _inner(fields, "affinity", _affinity),
        "host_aliases": _each(fields, "host_aliases", _host_alias),
        "termination_grace_period_seconds": _seconds(
            fields, "termination_grace_period_seconds", low=0, high=LONGEST_GRACE
        ),
        "progress_deadline_seconds": _seconds(fields, "progress_deadline_seconds", low=1, high=LONGEST_GRACE),
        "max_surge": surge,
        "max_unavailable": unavailable,
    }
    fields.close()
    return {name: value for name, value in plain.items() if value is not None and value not in ([], {})}
