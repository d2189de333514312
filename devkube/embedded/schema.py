"""Decoding by the published OpenAPI types: unknown fields are found, wrong types refused, quantities made canonical."""

import base64
import importlib.resources
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from devkube.embedded import quantities
from devkube.embedded.objects import Obj
from devkube.embedded.resources import Resource

_FOLDER = "kubernetes-json-schema/v1.37.0-local/_definitions.json"
_INT32 = 2**31
_INT64 = 2**63
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$", re.ASCII)


class Repeated(dict[str, Any]):
    """A JSON object in which some keys stood more than once."""

    repeated: tuple[str, ...] = ()


class MismatchError(ValueError):
    """A value of the wrong JSON type, worded as encoding/json does."""


@dataclass(slots=True, eq=False)
class Node:
    """One type of the schema."""

    form: str
    go: str = ""
    fields: dict[str, "Node"] = field(default_factory=dict)
    item: "Node | None" = None
    required: tuple[str, ...] = ()
    merge_key: str = ""
    merges: bool = False
    map_keys: tuple[str, ...] = ()
    set_list: bool = False
    atomic: bool = False


class _Builder:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.made: dict[str, Node] = {}

    def named(self, name: str) -> Node:
        if name in self.made:
            return self.made[name]
        node = self.made[name] = Node("object", go=name.rsplit(".", 1)[-1])
        special = {"Quantity": "quantity", "IntOrString": "intstr", "Time": "time", "MicroTime": "time"}
        raw = self.definitions[name]
        if node.go in special:
            node.form = special[node.go]
        elif node.go in ("FieldsV1", "RawExtension", "JSON") or "properties" not in raw:
            node.form = "any"
        else:
            node.required = tuple(raw.get("required", ()))
            node.atomic = raw.get("x-kubernetes-map-type") == "atomic"
            node.fields = {key: self.inline(value, node.go) for key, value in raw["properties"].items()}
        return node

    def inline(self, raw: dict[str, Any], owner: str) -> Node:
        if "$ref" in raw:
            return self.named(raw["$ref"].rsplit("/", 1)[-1])
        kind = raw.get("type")
        kind = next((each for each in kind if each != "null"), "any") if isinstance(kind, list) else kind or "any"
        if kind == "array":
            return self._array(raw, owner)
        if kind == "object" and "additionalProperties" in raw:
            item = self.inline(raw["additionalProperties"], owner)
            return Node("map", owner, item=item, atomic=raw.get("x-kubernetes-map-type") == "atomic")
        if kind == "integer":
            return Node(raw.get("format", "int64"), owner)
        return Node({"string": "string", "boolean": "bool", "number": "float64"}.get(kind, "any"), owner)

    def _array(self, raw: dict[str, Any], owner: str) -> Node:
        kind = raw.get("x-kubernetes-list-type", "atomic")
        return Node(
            "list",
            owner,
            item=self.inline(raw["items"], owner),
            merge_key=raw.get("x-kubernetes-patch-merge-key", ""),
            merges="merge" in str(raw.get("x-kubernetes-patch-strategy", "")),
            map_keys=tuple(raw.get("x-kubernetes-list-map-keys", ())),
            set_list=kind == "set",
            atomic=kind == "atomic",
        )


@lru_cache(maxsize=1)
def _builder() -> _Builder:
    text = importlib.resources.files("kubernetes_validate").joinpath(_FOLDER).read_bytes()
    return _Builder(orjson.loads(text)["$defs"])


_PACKAGES = {
    "": "core.v1",
    "apps": "apps.v1",
    "batch": "batch.v1",
    "policy": "policy.v1",
    "scheduling.k8s.io": "scheduling.v1",
    "storage.k8s.io": "storage.v1",
    "coordination.k8s.io": "coordination.v1",
    "authorization.k8s.io": "authorization.v1",
    "autoscaling": "autoscaling.v1",
}


@lru_cache(maxsize=64)
def type_of(group: str, kind: str) -> Node:
    """Return the type of a served kind, the meta types of requests included; raises KeyError."""
    if kind == "DeleteOptions":
        return _builder().named("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
    return _builder().named(f"io.k8s.api.{_PACKAGES[group]}.{kind}")


def of_resource(resource: Resource) -> Node:
    """Return the type of a resource's objects."""
    return type_of(resource.group, resource.kind)


@dataclass(slots=True)
class Decoded:
    """A decoded object and what strict decoding says about it."""

    obj: Obj
    complaints: list[str]


_EMPTY: dict[str, Any] = {"string": "", "int32": 0, "int64": 0, "bool": False}


def decode(node: Node, value: object, *, whole: bool = True) -> Decoded:
    """Read a JSON value as a type: drop nulls and unknown fields, name them; raises MismatchError.

    In a `whole` object a required field that is missing becomes its empty value, as decoding in Go has it.
    """
    complaints: list[str] = []
    obj = _read(node, value, "", complaints)
    if whole:
        _fill(node, obj)
    return Decoded(obj if isinstance(obj, dict) else {}, complaints)


def _fill(node: Node, value: Any) -> None:
    if isinstance(value, list) and node.item:
        for each in value:
            _fill(node.item, each)
    if not isinstance(value, dict):
        return
    for key in node.required:
        if key not in value and node.fields[key].form in _EMPTY:
            value[key] = _EMPTY[node.fields[key].form]
    for key, each in value.items():
        child = node.item if node.form == "map" else node.fields.get(key)
        if child is not None:
            _fill(child, each)


def _read(node: Node, value: Any, path: str, complaints: list[str]) -> Any:
    if node.form == "object":
        return _object(node, value, path, complaints)
    if node.form == "list" and node.item:
        if not isinstance(value, list):
            raise _mismatch(node, value, path, "[]" + (node.item.go or node.item.form))
        return [_read(node.item, each, f"{path}[{at}]", complaints) for at, each in enumerate(value)]
    if node.form == "map" and node.item:
        if not isinstance(value, dict):
            raise _mismatch(node, value, path, "map[string]" + node.item.form)
        kept = value.items()
        return {str(key): _read(node.item, each, f"{path}.{key}", complaints) for key, each in kept if each is not None}
    return _scalar(node, value, path)


def _object(node: Node, value: Any, path: str, complaints: list[str]) -> Obj:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _mismatch(node, value, path, node.go)
    if isinstance(value, Repeated):
        complaints += [f'duplicate field "{_join(path, key)}"' for key in value.repeated]
    made: Obj = {}
    for key, each in value.items():
        known = node.fields.get(key)
        if known is None:
            complaints.append(f'unknown field "{_join(path, key)}"')
        elif each is not None:
            read = _read(known, each, _join(path, key), complaints)
            if read or known.form not in ("list", "map"):
                made[key] = read
    return made


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _scalar(node: Node, value: Any, path: str) -> Any:
    form = node.form
    if form in ("string", "byte", "time"):
        return _text(node, value, path)
    if form in ("int32", "int64"):
        return _whole(node, value, path)
    if form == "quantity":
        return _quantity(value)
    if form == "bool" and not isinstance(value, bool):
        raise _mismatch(node, value, path, "bool")
    if form == "intstr" and (isinstance(value, bool) or not isinstance(value, int | str)):
        raise _mismatch(node, value, path, "int32")
    return value


def _text(node: Node, value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _mismatch(node, value, path, "string")
    if node.form == "byte":
        _check_base64(value)
    if node.form == "time" and value and not _TIME.match(value):
        raise MismatchError(f'parsing time "{value[:100]}" as "2006-01-02T15:04:05Z07:00": cannot parse')
    return value


def _whole(node: Node, value: Any, path: str) -> int:
    bound = _INT32 if node.form == "int32" else _INT64
    if isinstance(value, float) and value.is_integer() and abs(value) < bound:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -bound <= value < bound:
        raise _mismatch(node, value, path, node.form)
    return value


def _check_base64(text: str) -> None:
    try:
        base64.b64decode(text, validate=True)
    except ValueError as wrong:
        raise MismatchError("illegal base64 data at input byte 0") from wrong


def _quantity(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise MismatchError(quantities.FORM)
    try:
        return quantities.canonical(str(value).strip() or "0")
    except quantities.QuantityError as bad:
        raise MismatchError(str(bad)) from bad


def _mismatch(node: Node, value: object, path: str, wanted: str) -> MismatchError:
    given = "string"
    if isinstance(value, bool):
        given = "bool"
    elif isinstance(value, dict):
        given = "object"
    elif isinstance(value, list):
        given = "array"
    elif isinstance(value, int | float):
        given = "number" if isinstance(value, int) and abs(value) < _INT64 else f"number {value}"
    plain = re.sub(r"\[\d+\]", "", path)
    place = f"Go struct field {node.go}.{plain}" if path else "Go value"
    return MismatchError(f"json: cannot unmarshal {given} into {place} of type {wanted}")
