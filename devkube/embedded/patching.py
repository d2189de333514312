"""JSON patch, JSON merge patch and strategic merge patch."""

from typing import Any

import jsonpatch
import jsonpointer

from devkube.embedded.errors import ApiError, bad_request
from devkube.embedded.objects import Obj, copy
from devkube.embedded.schema import Node

MOST_OPERATIONS = 10_000


def json_patch(obj: Obj, operations: Any) -> Obj:
    """Apply RFC 6902; raises ApiError 400 for a bad document, 422 when it does not fit the object."""
    if not isinstance(operations, list):
        raise bad_request("error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    if len(operations) > MOST_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", message)
    try:
        return jsonpatch.JsonPatch(operations).apply(copy(obj))  # type: ignore[no-any-return] # JSON carries no types
    except jsonpatch.JsonPatchTestFailed as failed:
        raise _unfit(f"testing path failed: {failed}") from failed
    except (jsonpatch.JsonPatchConflict, jsonpointer.JsonPointerException) as failed:
        raise _unfit(str(failed)) from failed
    except (jsonpatch.JsonPatchException, KeyError, TypeError, AttributeError, ValueError) as failed:
        raise bad_request(f"error decoding patch: {failed}") from failed


def _unfit(message: str) -> ApiError:
    return ApiError(422, "Invalid", f"the server rejected our request due to an error in our request: {message}", {})


def merge_patch(obj: Any, patch: Any) -> Any:
    """Apply RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(obj) if isinstance(obj, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_patch(node: Node, obj: Obj, patch: Any) -> Obj:
    """Apply a strategic merge patch by the merge keys of the schema; raises ApiError 400."""
    if not isinstance(patch, dict):
        raise bad_request("error decoding patch: expected a map")
    return _merge_map(node, obj, patch)


def _merge_map(node: Node | None, obj: Obj, patch: Obj) -> Obj:
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    result = dict(obj)
    if isinstance(keep := patch.get("$retainKeys"), list):
        result = {key: value for key, value in result.items() if key in keep}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.split("/", 1)[1]
            result[field] = [each for each in result.get(field) or [] if each not in (value or [])]
    for key, value in patch.items():
        if key.startswith(("$setElementOrder/", "$deleteFromPrimitiveList/")) or key in ("$patch", "$retainKeys"):
            continue
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(_child(node, key), result.get(key), value)
    return result


def _child(node: Node | None, key: str) -> Node | None:
    if node is None:
        return None
    return node.item if node.form == "map" else node.fields.get(key)


def _merge(node: Node | None, old: Any, new: Any) -> Any:
    if isinstance(new, dict):
        return _merge_map(node, old if isinstance(old, dict) else {}, new)
    if isinstance(new, list) and node is not None and node.merges:
        if node.merge_key:
            return _merge_list(node, old if isinstance(old, list) else [], new)
        return [*(old or []), *(each for each in new if each not in (old or []))]
    if isinstance(new, list):
        return [each for each in new if not (isinstance(each, dict) and "$patch" in each)]
    return new


def _merge_list(node: Node, old: list[Any], new: list[Any]) -> list[Any]:
    key = node.merge_key
    if any(isinstance(each, dict) and each.get("$patch") == "replace" for each in new):
        return [each for each in new if "$patch" not in each]
    result = list(old)
    for each in new:
        if not isinstance(each, dict) or key not in each:
            raise bad_request(f"map: {each} does not contain declared merge key: {key}"[:500])
        at = next((i for i, one in enumerate(result) if isinstance(one, dict) and one.get(key) == each[key]), None)
        if each.get("$patch") == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(_merge_map(node.item, {}, each))
        else:
            result[at] = _merge_map(node.item, result[at], each)
    return result
