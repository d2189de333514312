"""Whole page and fragment from one URL, and what HTMX needs of redirects, sessions and caches.

A fragment is a named partial of its page (``page.html#rows``) whose name is the id of the element it replaces, so a
view says ``render_page(request, "tasks/task_list.html", context, parts=("rows",))`` and nothing more.
"""

from __future__ import annotations

import json
import zoneinfo
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, cast
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

THEMES = ("auto", "light", "dark")


def htmx_of(request: HttpRequest) -> HtmxDetails:
    """What HtmxMiddleware knows about this request."""
    return cast(HtmxDetails, getattr(request, "htmx", None) or HtmxDetails(request))


def wanted_part(request: HttpRequest, parts: Collection[str]) -> str | None:
    """The partial that this request asks for, or None for the whole page."""
    htmx = htmx_of(request)
    if not htmx or htmx.boosted or htmx.history_restore_request:
        return None
    return htmx.target if htmx.target in parts else None


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    parts: Collection[str] | Mapping[str, str] = (),
    status: int = 200,
) -> HttpResponse:
    """The page, or only the part of it that HTMX will swap: its partial, or the template that a mapping names."""
    part = wanted_part(request, parts)
    own = parts.get(part or "", "") if isinstance(parts, Mapping) else ""
    name = own or (f"{template}#{part}" if part else template)
    return render(request, name, dict(context or {}), status=status)


def go(request: HttpRequest, to: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """Send the whole page elsewhere, from a plain form or from an HTMX request alike."""
    if not htmx_of(request):
        return HttpResponseRedirect(resolve_url(to, *args, **kwargs))
    return HttpResponse(status=204, headers={"HX-Redirect": resolve_url(to, *args, **kwargs)})


def with_toast(response: HttpResponse, text: str, level: str = "success") -> HttpResponse:
    """Have the page say ``text`` in its live region once the fragment is in place."""
    response["HX-Trigger"] = json.dumps({"toast": {"text": str(text), "level": level}})
    return response


def problem(text: str, *, status: int) -> HttpResponse:
    """A refusal for an HTMX request: nothing is swapped, the page shows ``text`` as a toast."""
    return HttpResponse(status=status, headers={"X-Problem": quote(str(text)[:500])})


def way_back(request: HttpRequest) -> str:
    """The page of ours that the form stood on; its own address may take nothing but POST and would answer 405."""
    came = urlsplit(request.headers.get("Referer", ""))
    path = came._replace(scheme="", netloc="", fragment="").geturl()
    ours = came.netloc == request.get_host() and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if ours and path.startswith("/") else "/"


class PageMiddleware(MiddlewareMixin):
    """The reader's language, zone and theme on the way in; session, redirect and cache manners on the way out."""

    def process_request(self, request: HttpRequest) -> None:
        user = request.user if settings.SESSION_COOKIE_NAME in request.COOKIES else None
        known = user if user is not None and user.is_authenticated else None
        chosen = request.COOKIES.get("theme") or getattr(known, "theme", "")
        request.theme = chosen if chosen in THEMES else "auto"  # type: ignore[attr-defined]  # read by base.html alone
        language = getattr(known, "language", "")
        if language and settings.LANGUAGE_COOKIE_NAME not in request.COOKIES:
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
        timezone.activate(_zone(getattr(known, "time_zone", "") or request.COOKIES.get("tz", "")))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        timezone.deactivate()
        if htmx_of(request) and isinstance(response, HttpResponseRedirect) and _to_login(response.url):
            return HttpResponse(status=204, headers={"HX-Redirect": _login_and_back(request)})
        if request.method == "POST" and isinstance(response, HttpResponseRedirect) and _asks_to_sign_in(response.url):
            return HttpResponseRedirect(_login_and_back(request))
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ("HX-Request", "HX-Target", "Cookie"))
            # A page of a person must not be shown again by the back button once they have signed out.
            response.setdefault("Cache-Control", "no-store")
        return response


@cache
def _zones() -> frozenset[str]:
    """Asked once: listing them walks the whole zone folder, 30 ms of every request."""
    return frozenset(zoneinfo.available_timezones())


def _zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that name, UTC for a name that comes from nowhere (cookies are anybody's text)."""
    name = name.replace("%2F", "/")
    return zoneinfo.ZoneInfo(name if len(name) < 64 and name in _zones() else "UTC")


def _to_login(url: str) -> bool:
    return urlsplit(url).path == resolve_url(settings.LOGIN_URL)


def _asks_to_sign_in(url: str) -> bool:
    """A session that ended: signing out goes to the same page, but names no way back."""
    return _to_login(url) and "next" in QueryDict(urlsplit(url).query)


def _login_and_back(request: HttpRequest) -> str:
    """The login page, with the page the reader is on (never a fragment's or a form's address) as the way back."""
    htmx = htmx_of(request)
    here = htmx.current_url_abs_path or resolve_url(settings.LOGIN_REDIRECT_URL) if htmx else way_back(request)
    query = QueryDict(mutable=True)
    query["next"] = here
    return f"{resolve_url(settings.LOGIN_URL)}?{query.urlencode(safe='/')}"
