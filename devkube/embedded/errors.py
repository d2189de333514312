"""Refusals as the API server words them: a code, a reason and details, written as `kind: Status`."""

from dataclasses import dataclass
from typing import Any

import orjson

from devkube.embedded.resources import Resource


@dataclass(frozen=True, slots=True)
class Cause:
    """One field's fault; `reason` is a metav1.CauseType."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


class ApiError(Exception):
    """A refused request; the HTTP layer writes it as a Status object."""

    def __init__(
        self, code: int, reason: str, message: str, details: dict[str, Any] | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details
        self.retry_after = retry_after

    def status(self) -> dict[str, Any]:
        """Return the Status object of this refusal."""
        body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details:
            body["details"] = self.details
        body["code"] = self.code
        return body


def _details(resource: Resource, name: str) -> dict[str, Any]:
    details: dict[str, Any] = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    details["kind"] = resource.plural
    return details


def not_found(resource: Resource, name: str) -> ApiError:
    """404 for one object."""
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name))


def no_such_path() -> ApiError:
    """404 for a path that no resource answers."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: Resource, name: str) -> ApiError:
    """409 for a second create."""
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(resource, name))


STALE = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(resource: Resource, name: str, why: str = STALE) -> ApiError:
    """409 for a stale resourceVersion or a failed precondition."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(resource, name))


def forbidden(resource: Resource, name: str, why: str, causes: list[Cause] | None = None) -> ApiError:
    """403 by an admission rule."""
    details = _details(resource, name)
    if causes:
        details["causes"] = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    return ApiError(403, "Forbidden", f'{resource.qualified} "{name}" is forbidden: {why}', details)


def invalid(resource: Resource, name: str, causes: list[Cause]) -> ApiError:
    """422 with every faulty field."""
    texts = [f"{c.field}: {c.message}" if c.field else c.message for c in causes]
    said = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details: dict[str, Any] = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    details["kind"] = resource.kind
    details["causes"] = [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes]
    suffix = f".{resource.group}" if resource.group else ""
    return ApiError(422, "Invalid", f'{resource.kind}{suffix} "{name}" is invalid: {said}', details)


def bad_request(message: str) -> ApiError:
    """400."""
    return ApiError(400, "BadRequest", message)


def expired(message: str) -> ApiError:
    """410 for a version that is no longer kept."""
    return ApiError(410, "Expired", message)


def unauthorized() -> ApiError:
    """401."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def method_not_allowed(message: str = "the server does not allow this method on the requested resource") -> ApiError:
    """405."""
    return ApiError(405, "MethodNotAllowed", message, {})


def too_large(limit: int) -> ApiError:
    """413 for a body over the limit (bytes)."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}", {})


def unsupported_media_type(accepted: str) -> ApiError:
    """415."""
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return ApiError(415, "UnsupportedMediaType", message, {})


def required(field: str, why: str = "") -> Cause:
    """A missing value."""
    return Cause(field, "Required value" + (f": {why}" if why else ""), "FieldValueRequired")


def bad_value(field: str, value: object, why: str) -> Cause:
    """A value that breaks a rule."""
    return Cause(field, f"Invalid value: {shown(value)}: {why}")


def duplicate(field: str, value: object) -> Cause:
    """A value that may stand once."""
    return Cause(field, f"Duplicate value: {shown(value)}", "FieldValueDuplicate")


def unsupported(field: str, value: object, choices: list[str]) -> Cause:
    """A value outside an enumeration."""
    listed = ", ".join(f'"{choice}"' for choice in sorted(choices))
    return Cause(field, f"Unsupported value: {shown(value)}: supported values: {listed}", "FieldValueNotSupported")


def refused(field: str, why: str) -> Cause:
    """A field that may not be set or changed so."""
    return Cause(field, f"Forbidden: {why}", "FieldValueForbidden")


def shown(value: object) -> str:
    """Write a value the way Go's field errors do, bounded in size."""
    if isinstance(value, str):
        text = '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\x00", "\\x00") + '"'
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif value is None:
        text = "null"
    elif isinstance(value, dict | list):
        text = orjson.dumps(value).decode()
    else:
        text = str(value)
    return text if len(text) <= 2048 else text[:2048] + "..."
