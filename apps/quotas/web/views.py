"""Quotas: may I run more; per scope a bar with used, held by what waits, and overhang."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.quotas import access, selectors
from apps.quotas.selectors import QuotaRow
from apps.ui.htmx import render_page
from apps.ui.scope import ME, chosen_scope

if TYPE_CHECKING:
    from apps.accounts.models import User


@require_safe
@login_required
def quota_list(request: HttpRequest) -> HttpResponse:
    user, scope = cast("User", request.user), chosen_scope(request)
    rows = [row for row in selectors.rows(access.visible_quotas(user)) if in_scope(row, scope, user)]
    return render_page(request, "quotas/quota_list.html", {"scopes": by_scope(rows)}, parts=("scopes",))


def in_scope(row: QuotaRow, scope: str, user: User) -> bool:
    """Whether the scope switch shows this row."""
    if scope == ME:
        return row.scope_kind == "user" and row.scope == user.username
    return not scope or (row.scope_kind == "project" and row.scope == scope)


def by_scope(rows: list[QuotaRow]) -> list[tuple[str, str, list[QuotaRow]]]:
    """Projects first, then people, each with its rows."""
    ordered = sorted(rows, key=lambda row: (row.scope_kind, row.scope, row.resource))
    return [
        (kind, scope, list(found)) for (kind, scope), found in groupby(ordered, lambda row: (row.scope_kind, row.scope))
    ]
