"""Projects: who is in, what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts import selectors as accounts
from apps.kernel.clock import now
from apps.kernel.errors import Refused
from apps.organisations import access, selectors, services
from apps.organisations.domain.roles import Action, Role, may
from apps.ui.htmx import go, render_page
from apps.ui.panels import said

if TYPE_CHECKING:
    from apps.accounts.models import User

SOURCE = "web"


@require_safe
@login_required
def project_list(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    projects, roles = selectors.with_member_count(access.visible_projects(user)), access.roles_of(user)
    rows = [(project, roles.get(project.pk)) for project in projects]
    return render_page(request, "organisations/project_list.html", {"rows": rows})


@require_safe
@login_required
def project_detail(request: HttpRequest, slug: str) -> HttpResponse:
    user = cast("User", request.user)
    project = access.project_for(user, slug)
    role = access.role_in(user, project)
    manages = may(role, Action.MANAGE_MEMBERS, is_admin=user.is_superuser, is_auditor=user.is_auditor)
    context = {"project": project, "members": selectors.members(project), "role": role, "manages": manages}
    return render_page(request, "organisations/project_detail.html", context | {"roles": list(Role)})


@require_POST
@login_required
def set_member(request: HttpRequest, slug: str) -> HttpResponse:
    user = cast("User", request.user)
    project = access.project_for(user, slug, to=Action.MANAGE_MEMBERS)
    name, role = request.POST.get("user", "").replace("\x00", "").strip()[:150], request.POST.get("role", "")
    person = accounts.person_named(name)
    if person is None or role not in set(Role):
        messages.error(request, _("There is no person with this name.") if person is None else _("No such role."))
        return go(request, "organisations:project-detail", slug)
    return _say(
        request, slug, lambda: services.set_member(project, person, Role(role), by=user, now=now(), source=SOURCE)
    )


@require_POST
@login_required
def remove_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = cast("User", request.user)
    project = access.project_for(user, slug, to=Action.MANAGE_MEMBERS)
    person = selectors.member(project, pk)
    return _say(request, slug, lambda: services.remove_member(project, person, by=user, now=now(), source=SOURCE))


def _say(request: HttpRequest, slug: str, change: Callable[[], object]) -> HttpResponse:
    """Do it and say so, or say why not; back to the project either way."""
    try:
        change()
    except Refused as refused:
        messages.error(request, said(refused.refusal))
    else:
        messages.success(request, _("The members were changed."))
    return go(request, "organisations:project-detail", slug)
