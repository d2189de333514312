"""Versions of things as ETags, and ``If-Match`` against them (rest.md, PATCH)."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.kernel.errors import Code, refuse

_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def etag(version: int) -> str:
    """The version as a strong ETag."""
    return f'"{version}"'


def matched_version(request: Request, present: int, *, needed: bool) -> int | None:
    """The version that the caller has seen, None when ``If-Match`` is neither given nor needed.

    Raises Refused: version_required when it is needed, stale_version when it names another than ``present``.
    """
    header = request.headers.get("If-Match")
    if header is None:
        if not needed:
            return None
        raise refuse(Code.VERSION_REQUIRED, _("Send If-Match with the version that you have seen."), present=present)
    if header.strip() == "*" or str(present) in _TAG.findall(header):
        return present
    detail = _("The version is %(present)d by now, not %(seen)s.") % {"present": present, "seen": header[:60]}
    raise refuse(Code.STALE_VERSION, detail, present=present)
