"""Reading request bodies (bounded, JSON or YAML, repeated keys found) and writing answers."""

import json
from typing import Any

import orjson
import yaml
from starlette.requests import Request
from starlette.responses import Response

from devkube.embedded.errors import ApiError, bad_request, too_large, unsupported_media_type
from devkube.embedded.objects import Obj
from devkube.embedded.schema import Decoded, MismatchError, Node, Repeated, decode

LIMIT = 3 * 1024 * 1024
DEPTH = 200
JSON = "application/json"
ACCEPTED = "application/json, application/yaml"


async def read_body(request: Request, limit: int = LIMIT) -> bytes:
    """Return the body; raises ApiError 413 over `limit` bytes without keeping more."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large(limit)
        parts.append(part)
    return b"".join(parts)


def media_type(request: Request) -> str:
    """Return the content type without parameters."""
    return request.headers.get("content-type", JSON).split(";")[0].strip().lower() or JSON


def parse(body: bytes, kind: str, *, strict: bool = True) -> Any:
    """Read JSON or YAML; with `strict` repeated keys are marked. Raises ApiError 400, 415."""
    if kind in (JSON, "*/*", ""):
        return _json(body, strict=strict)
    if kind in ("application/yaml", "application/x-yaml", "text/yaml"):
        return _yaml(body)
    raise unsupported_media_type(ACCEPTED)


def _json(body: bytes, *, strict: bool) -> Any:
    try:
        value = orjson.loads(body)
        return json.loads(body, object_pairs_hook=_pairs) if strict else value
    except (ValueError, RecursionError) as wrong:
        raise bad_request(f"couldn't get version/kind; json parse error: {str(wrong)[:200]}") from wrong


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = Repeated(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        made.repeated = tuple(key for key in made if keys.count(key) > 1)
    return made


def _yaml(body: bytes) -> Any:
    if b"&" in body and b"*" in body:
        raise bad_request("yaml: anchors and aliases are not taken")
    try:
        value = yaml.safe_load(body)
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as wrong:
        raise bad_request(f"error converting YAML to JSON: {str(wrong)[:200]}") from wrong


def check_depth(value: Any, left: int = DEPTH) -> None:
    """Refuse absurd nesting; raises ApiError 400."""
    if left == 0:
        raise bad_request("json: exceeded max depth")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(each, dict | list):
            check_depth(each, left - 1)


def typed(
    node: Node, value: Any, kind: str, version: str, validation: str, *, whole: bool = True
) -> tuple[Obj, list[str]]:
    """Decode a parsed body by its type; returns the object and the warnings. Raises ApiError 400."""
    failed = f'{kind} in version "{version}" cannot be handled as a {kind}: '
    if not isinstance(value, dict):
        raise bad_request("couldn't get version/kind; json parse error: the body is not an object")
    check_depth(value)
    try:
        decoded: Decoded = decode(node, value, whole=whole)
    except MismatchError as wrong:
        raise bad_request(failed + str(wrong)) from wrong
    if decoded.complaints and validation == "Strict":
        raise bad_request(failed + "strict decoding error: " + ", ".join(decoded.complaints[:50]))
    return decoded.obj, decoded.complaints if validation == "Warn" else []


def answer(body: Obj | bytes, code: int = 200, warnings: list[str] | None = None) -> Response:
    """Write a JSON answer; warnings become Warning headers."""
    response = Response(body if isinstance(body, bytes) else orjson.dumps(body), code, media_type=JSON)
    for warning in (warnings or [])[:20]:
        text = "".join(letter for letter in warning if " " <= letter < "\x7f").replace("\\", "\\\\").replace('"', '\\"')
        response.headers.append("warning", f'299 - "{text[:500]}"')
    return response


def refusal(error: ApiError) -> Response:
    """Write a refusal as a Status object."""
    response = answer(error.status(), error.code)
    if error.retry_after:
        response.headers["retry-after"] = str(error.retry_after)
    return response
