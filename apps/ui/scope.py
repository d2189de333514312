"""The scope switch: in whose name the reader looks. It stands in the URL (``?scope=``); the session remembers it."""

from __future__ import annotations

import re
from typing import cast

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

ALL = ""
ME = "me"
KEY = "scope"
_SLUG = re.compile(r"[\w-]{1,63}", re.ASCII)


def chosen_scope(request: HttpRequest) -> str:
    """``me``, a Project's slug, or nothing for all that the reader may see."""
    if KEY in request.GET:
        scope = request.GET[KEY]
        # What no slug can be is no choice; remembered, a NUL would fail every later page of the session.
        scope = scope if _SLUG.fullmatch(scope) else ALL
        if request.session.get(KEY, ALL) != scope:
            request.session[KEY] = scope
        return scope
    return str(request.session.get(KEY, ALL))


def person(request: HttpRequest) -> AbstractBaseUser:
    """The signed-in person of a view behind ``login_required``."""
    return cast(AbstractBaseUser, request.user)
