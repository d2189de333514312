"""One cluster: its page, adding it, checking it, changing how the platform signs in to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.clusters import access, explanations, services
from apps.clusters.domain.checklist import Verdict, verdict
from apps.clusters.domain.checklist_rows import Check, from_wire
from apps.clusters.domain.sign_in import SignIn
from apps.dashboard import selectors
from apps.dashboard.web.cluster_forms import Entered, blank, looked_at, read_sign_in, taken
from apps.kernel.clock import now
from apps.kernel.errors import Refused
from apps.scheduling import selectors as scheduling
from apps.ui.htmx import go, htmx_of, render_page

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.clusters.models import Cluster

SOURCE = "web"
SECRETS = ("kubeconfig", "token", "ca")


@require_safe
@login_required
def cluster_detail(request: HttpRequest, name: str) -> HttpResponse:
    user = cast("User", request.user)
    cluster = access.cluster_for(user, name)
    return _page(request, user, cluster)


@require_POST
@login_required
def cluster_check(request: HttpRequest, name: str) -> HttpResponse:
    user = cast("User", request.user)
    services.check(access.cluster_to_manage(user, name), now=now(), full=True)
    if not htmx_of(request):
        return go(request, "dashboard:cluster-detail", name)
    return _page(request, user, access.cluster_for(user, name))


@sensitive_post_parameters(*SECRETS)
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def cluster_new(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    access.check_may_manage(user)
    if request.method != "POST":
        return render_page(request, "dashboard/cluster_new.html", {"form": blank()})
    moment, entered = now(), read_sign_in(request, now=now())
    checks = looked_at(entered, lambda sign_in: services.look_over(_draft(entered, sign_in), now=moment))
    if entered.sign_in is not None and taken(request.POST.get("do", ""), checks):
        try:
            draft = _draft(entered, entered.sign_in)
            cluster = services.add_examined(draft, checks, by=user, now=moment, source=SOURCE)
        except Refused as refused:
            entered.refuse(refused.refusal)
        else:
            messages.success(request, _("The cluster “%(name)s” was added.") % {"name": cluster.name})
            return go(request, "dashboard:cluster-detail", cluster.name)
    return _verdict(request, "dashboard/cluster_new.html", entered, checks)


@sensitive_post_parameters(*SECRETS)
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def cluster_credentials(request: HttpRequest, name: str) -> HttpResponse:
    user = cast("User", request.user)
    cluster = access.cluster_to_manage(user, name)
    if request.method != "POST":
        context = {"form": blank(server=cluster.server), "cluster": cluster}
        return render_page(request, "dashboard/cluster_credentials.html", context)
    moment, entered = now(), read_sign_in(request, now=now())
    checks = looked_at(entered, lambda sign_in: services.examine(sign_in, now=moment, cluster=cluster))
    if entered.sign_in is not None and taken(request.POST.get("do", ""), checks):
        services.rotate_examined(cluster, entered.sign_in, checks, by=user, now=moment, source=SOURCE)
        messages.success(request, _("The new credentials are in use."))
        return go(request, "dashboard:cluster-detail", name)
    return _verdict(request, "dashboard/cluster_credentials.html", entered, checks, {"cluster": cluster})


def _draft(entered: Entered, sign_in: SignIn) -> services.Draft:
    return services.Draft(entered.form.value("name"), sign_in, entered.form.value("namespace_prefix") or "platform")


def _verdict(
    request: HttpRequest,
    template: str,
    entered: Entered,
    checks: tuple[Check, ...],
    more: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """What was found, beside the form that the reader still has."""
    faults = entered.form.faults()
    found = verdict(checks) if checks and not faults else None
    context = {
        "form": entered.form,
        "faults": faults,
        "groups": explanations.grouped(checks),
        "contexts": entered.contexts if len(entered.contexts) > 1 else (),
        "context": entered.context,
        "may_save": found is Verdict.FITS,
        "may_save_anyway": found in {Verdict.UNREACHABLE, Verdict.ANOTHER},
        "another": found is Verdict.ANOTHER,
        "unfit": found is Verdict.UNFIT,
    }
    return render_page(request, template, context | dict(more or {}), parts=("verdict",))


def _page(request: HttpRequest, user: User, cluster: Cluster) -> HttpResponse:
    pools, checks = access.visible_pool_ids(user), from_wire(cluster.checks)
    drawn = {
        node.name: selectors.node_picture(node) for node in scheduling.plant().nodes if node.cluster_id == cluster.pk
    }
    rows = [
        (node, drawn[node.name], node.pool if node.pool_id in pools else None)
        for node in access.visible_nodes(user, cluster).order_by("name")
        if node.name in drawn
    ]
    context = {
        "cluster": cluster,
        "nodes": rows,
        "groups": explanations.grouped(checks),
        "tally": explanations.tally(checks),
        "manages": access.may_manage(user),
    }
    return render_page(request, "dashboard/cluster_detail.html", context, parts=("head", "nodes", "checks"))
