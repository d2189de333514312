"""Field ownership of server-side apply, kept as fieldsV1 sets."""

from typing import Any

import orjson

from devkube.embedded import clock
from devkube.embedded.errors import ApiError
from devkube.embedded.objects import Obj, copy, meta
from devkube.embedded.schema import Node

_NOT_OWNED = ("name", "namespace", "resourceVersion", "uid", "creationTimestamp", "managedFields", "generation")


def field_set(node: Node | None, value: Any) -> dict[str, Any]:
    """Return the fieldsV1 set of an applied value; a leaf is an empty set."""
    if node is None or node.atomic or not isinstance(value, dict | list):
        return {}
    if isinstance(value, list):
        return _list_set(node, value)
    found = {}
    for key, each in value.items():
        child = node.item if node.form == "map" else node.fields.get(key)
        found[f"f:{key}"] = field_set(child, each)
    return found


def _list_set(node: Node, value: list[Any]) -> dict[str, Any]:
    if node.set_list:
        return {f"v:{orjson.dumps(each).decode()}": {} for each in value}
    return {_key(node, each): {".": {}} | field_set(node.item, each) for each in value if isinstance(each, dict)}


def _key(node: Node, item: Obj) -> str:
    defaults = {"protocol": "TCP"}
    chosen = {key: item.get(key, defaults.get(key)) for key in node.map_keys}
    return "k:" + orjson.dumps(chosen, option=orjson.OPT_SORT_KEYS).decode()


def _owned(node: Node, wanted: Obj) -> dict[str, Any]:
    kept = {key: value for key, value in meta(wanted).items() if key not in _NOT_OWNED}
    body = {key: value for key, value in wanted.items() if key not in ("kind", "apiVersion", "metadata")}
    return field_set(node, {**body, "metadata": kept} if kept else body)


def own(node: Node, obj: Obj, wanted: Obj, manager: str, part: str) -> None:
    """Write down that `manager` owns the fields of `wanted` in `obj`."""
    rows = [row for row in meta(obj).get("managedFields") or [] if not _is(row, manager, part)]
    row: Obj = {"manager": manager, "operation": "Apply", "apiVersion": wanted.get("apiVersion", "")}
    row |= {"time": clock.stamp(), "fieldsType": "FieldsV1", "fieldsV1": _owned(node, wanted)}
    old = next((each for each in meta(obj).get("managedFields") or [] if _is(each, manager, part)), None)
    if old is not None and old.get("fieldsV1") == row["fieldsV1"]:
        row["time"] = old["time"]
    if part:
        row["subresource"] = part
    meta(obj)["managedFields"] = [*rows, row]


def _is(row: Obj, manager: str, part: str) -> bool:
    return bool(
        row.get("manager") == manager and row.get("operation") == "Apply" and row.get("subresource", "") == part
    )


def merge(node: Node, old: Obj, wanted: Obj, manager: str, part: str, *, force: bool) -> Obj:
    """Merge an applied configuration into an object; raises ApiError 409 naming the owners of contested fields."""
    new = copy(old)
    mine: Obj = next((row["fieldsV1"] for row in meta(old).get("managedFields") or [] if _is(row, manager, part)), {})
    others = [row for row in meta(old).get("managedFields") or [] if not _is(row, manager, part)]
    now = _owned(node, wanted)
    contested = [
        (row["manager"], path)
        for row in others
        for path in _contested(node, now, row.get("fieldsV1") or {}, wanted, old, "")
    ]
    if contested and not force:
        raise _conflict(contested)
    kept_by_others: dict[str, Any] = {}
    for row in others:
        _union(kept_by_others, row.get("fieldsV1") or {})
    _drop(node, new, mine, now, kept_by_others)
    body = {key: value for key, value in wanted.items() if key not in ("kind", "apiVersion")}
    about = {key: value for key, value in meta(wanted).items() if key not in _NOT_OWNED}
    merged: Obj = _merge(node, new, {**body, "metadata": about})
    if contested:
        for row in meta(merged)["managedFields"]:
            if not _is(row, manager, part):
                _subtract(row["fieldsV1"], now)
    own(node, merged, wanted, manager, part)
    return merged


def _conflict(contested: list[tuple[str, str]]) -> ApiError:
    rows = sorted(set(contested))
    text = f"Apply failed with {len(rows)} conflict{'s' if len(rows) > 1 else ''}: "
    text += ", ".join(f'conflict with "{who}": {path}' for who, path in rows)
    causes = [{"reason": "FieldManagerConflict", "message": f'conflict with "{who}"', "field": p} for who, p in rows]
    return ApiError(409, "Conflict", text, {"causes": causes})


def _child(node: Node | None, key: str) -> Node | None:
    if node is None or node.form == "list":
        return node.item if node else None
    return node.item if node.form == "map" else node.fields.get(key)


def _item(node: Node | None, value: Any, key: str) -> Any:
    """Return what a step of a field set names inside a value."""
    if key.startswith("f:") and isinstance(value, dict):
        return value.get(key[2:])
    if key.startswith("k:") and isinstance(value, list) and node is not None:
        return next((each for each in value if isinstance(each, dict) and _key(node, each) == key), None)
    if key.startswith("v:") and isinstance(value, list):
        return orjson.loads(key[2:]) if orjson.loads(key[2:]) in value else None
    return None


def _contested(node: Node | None, mine: Obj, theirs: Obj, new: Any, old: Any, path: str) -> list[str]:
    found = []
    for key in mine:
        if key not in theirs or key == ".":
            continue
        after, before = _item(node, new, key), _item(node, old, key)
        where = f"{path}.{key[2:]}" if key.startswith("f:") else f"{path}[{key[2:]}]"
        if (not mine[key] or not theirs[key]) and after != before:
            found.append(where)
        elif mine[key] and theirs[key]:
            step = key[2:] if key.startswith("f:") else ""
            found += _contested(_child(node, step), mine[key], theirs[key], after, before, where)
    return found


def _union(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        _union(into.setdefault(key, {}), value)


def _subtract(rows: dict[str, Any], taken: dict[str, Any]) -> None:
    for key in list(rows):
        if key in taken and key != ".":
            if not rows[key] or not taken[key]:
                del rows[key]
            else:
                _subtract(rows[key], taken[key])


def _drop(node: Node | None, obj: Any, mine: Obj, now: Obj, others: Obj) -> None:
    """Remove what this manager owned, applies no longer, and nobody else owns."""
    for key, below in mine.items():
        if key == ".":
            continue
        inner = {each: value for each, value in below.items() if each != "."}
        gone = key not in now and key not in others
        step = key[2:] if key.startswith("f:") else ""
        if inner and not (gone and key.startswith("k:")):
            _drop(_child(node, step), _item(node, obj, key), inner, now.get(key, {}), others.get(key, {}))
        elif gone and key.startswith("f:") and isinstance(obj, dict):
            obj.pop(key[2:], None)
        elif gone and isinstance(obj, list):
            found = _item(node, obj, key)
            if found is not None:
                obj.remove(found)


def _merge(node: Node | None, old: Any, new: Any) -> Any:
    if isinstance(new, dict) and isinstance(old, dict) and not (node and node.atomic):
        merged = dict(old)
        for key, value in new.items():
            merged[key] = _merge(_child(node, key), old.get(key), value)
        return merged
    if isinstance(new, list) and isinstance(old, list) and node is not None and not node.atomic:
        if node.set_list:
            return [*old, *(each for each in new if each not in old)]
        result, places = list(old), {_key(node, each): at for at, each in enumerate(old)}
        for each in new:
            at = places.get(_key(node, each))
            if at is None:
                result.append(each)
            else:
                result[at] = _merge(node.item, result[at], each)
        return result
    return new
