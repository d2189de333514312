"""What belongs to the person: API tokens and preferences."""

from __future__ import annotations

import zoneinfo
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import access, selectors, services
from apps.accounts.domain.tokens import DEFAULT_LIFE, LONGEST_LIFE, Scope
from apps.kernel.clock import now
from apps.kernel.errors import Refused
from apps.ui.panels import refusal_notice

if TYPE_CHECKING:
    from apps.accounts.models import User

LIVES = (7, 30, DEFAULT_LIFE.days, LONGEST_LIFE.days)


@require_safe
@login_required
def tokens(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/tokens.html", _tokens_context(cast("User", request.user)))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def create_token(request: HttpRequest) -> HttpResponse:
    """The new token's text is in this answer and nowhere else, so there is no redirect to lose it in."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("accounts:tokens"))
    user, given = cast("User", request.user), request.POST
    life = timedelta(days=_days(given.get("days", "")))
    name, scopes = given.get("name", "").strip(), given.getlist("scopes")
    try:
        _token, text = services.issue_token(user, name=name, scopes=scopes, life=life, by=user, now=now(), source="web")
    except Refused as refused:
        sent = {"name": name, "scopes": scopes}
        context = _tokens_context(user) | {"notice": refusal_notice(refused.refusal), "given": sent}
        return render(request, "accounts/tokens.html", context, status=422)
    return render(request, "accounts/tokens.html", _tokens_context(user) | {"fresh": text})


@require_POST
@login_required
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    user = cast("User", request.user)
    token = access.token_for(user, pk)
    services.revoke_token(token, by=user, now=now(), source="web")
    messages.success(request, _("The token “%(name)s” works no more.") % {"name": token.name})
    return HttpResponseRedirect(reverse("accounts:tokens"))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def preferences(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    if request.method == "POST":
        services.set_preferences(user, **_chosen(request))
        messages.success(request, _("Saved."))
        return _remembered(HttpResponseRedirect(reverse("accounts:preferences")), user)
    zones = sorted(zoneinfo.available_timezones())
    context = {"languages": settings.LANGUAGES, "zones": zones, "themes": selectors.THEMES}
    return render(request, "accounts/preferences.html", context)


def _days(text: str) -> int:
    """A posted number of days; anything else is 0, which the service refuses in its own words."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _tokens_context(user: User) -> dict[str, Any]:
    present = now()
    rows = [(token, token.revoked_at is None and token.expires_at > present) for token in selectors.tokens_of(user)]
    return {"tokens": rows, "scopes": list(Scope), "lives": LIVES, "default_life": DEFAULT_LIFE.days}


def _chosen(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "") for name in ("language", "theme", "time_zone")}


def _remembered(response: HttpResponse, user: User) -> HttpResponse:
    """Cookies of an earlier choice would win over the one just made."""
    response.delete_cookie("theme")
    response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
    return response
