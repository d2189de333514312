"""The frame's parts that need to know the reader's projects: ``{% load frame %}{% scope_switch %}``."""

from __future__ import annotations

from typing import Any

from django import template

from apps.organisations.access import visible_projects
from apps.ui.scope import chosen_scope

register = template.Library()
MOST = 50


@register.inclusion_tag("ui/scope_switch.html", takes_context=True)
def scope_switch(context: template.RequestContext) -> dict[str, Any]:
    """Me, each Project, all I may see; the address stays, only its scope changes."""
    request = context["request"]
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    return {"request": request, "scope": chosen_scope(request), "projects": list(visible_projects(user)[:MOST])}
