"""One request, read: what it names and how it wants it."""

import secrets
from dataclasses import dataclass, field

from starlette.requests import Request

from devkube.embedded import errors
from devkube.embedded.http.paths import Target
from devkube.embedded.http.snapshots import Snapshots
from devkube.embedded.registry import Registry
from devkube.embedded.resources import Resource

META = Resource("meta.k8s.io", "v1", "listoptions", "ListOptions", "listoptions", False)
OPTIONS = {
    "POST": Resource("meta.k8s.io", "v1", "createoptions", "CreateOptions", "createoptions", False),
    "PUT": Resource("meta.k8s.io", "v1", "updateoptions", "UpdateOptions", "updateoptions", False),
    "PATCH": Resource("meta.k8s.io", "v1", "patchoptions", "PatchOptions", "patchoptions", False),
    "DELETE": Resource("meta.k8s.io", "v1", "deleteoptions", "DeleteOptions", "deleteoptions", False),
}


@dataclass(slots=True)
class Api:
    """What every handler needs. `bookmark_seconds`: how often a quiet watch is told its version."""

    registry: Registry
    token: str
    bookmark_seconds: float = 60.0
    snapshots: Snapshots = field(default_factory=Snapshots)

    def knows(self, header: str) -> bool:
        """Say whether an Authorization header carries our token."""
        scheme, _, token = header.partition(" ")
        given = token.strip().encode("utf-8", "surrogateescape")
        return scheme.lower() == "bearer" and secrets.compare_digest(given, self.token.encode())


@dataclass(slots=True)
class Call:
    """A request with its target."""

    api: Api
    request: Request
    target: Target

    def text(self, key: str) -> str:
        """Return a query parameter, empty when absent."""
        return self.request.query_params.get(key, "")

    def flag(self, key: str) -> bool:
        """Return a boolean query parameter; present without a value means true."""
        value = self.request.query_params.get(key)
        return value is not None and value.lower() not in ("false", "0")

    def whole(self, key: str) -> int | None:
        """Return an integer query parameter; raises ApiError 400."""
        value = self.text(key)
        if not value:
            return None
        try:
            return int(value[:20])
        except ValueError as wrong:
            raise errors.bad_request(f'strconv.ParseInt: parsing "{value[:50]}": invalid syntax') from wrong

    @property
    def dry_run(self) -> bool:
        """True for dryRun=All; raises ApiError 422 for anything else."""
        values = self.request.query_params.getlist("dryRun")
        if any(value != "All" for value in values):
            cause = errors.unsupported("dryRun", values[0], ["All"])
            raise errors.invalid(OPTIONS[self.request.method], "", [cause])
        return bool(values)

    @property
    def validation(self) -> str:
        """Return Strict, Warn or Ignore; raises ApiError 422."""
        value = self.text("fieldValidation") or "Warn"
        if value not in ("Strict", "Warn", "Ignore"):
            cause = errors.unsupported("fieldValidation", value, ["", "Ignore", "Strict", "Warn"])
            raise errors.invalid(OPTIONS[self.request.method], "", [cause])
        return value
