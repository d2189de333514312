"""Pages across apps: the overview, what there is and what is free, the clusters (each one's: cluster_views)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.clusters import access as clusters
from apps.clusters.domain.checklist_rows import from_wire
from apps.clusters.explanations import tally
from apps.dashboard import selectors
from apps.quotas import access as quota_access
from apps.quotas import selectors as quotas
from apps.scheduling import selectors as scheduling
from apps.tasks.web.filters import read_query
from apps.ui.htmx import render_page

if TYPE_CHECKING:
    from apps.accounts.models import User


@require_safe
@login_required
def overview(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    plant, pools = scheduling.plant(), clusters.visible_pool_ids(user)
    context = {
        "tasks": selectors.at_a_glance(user, read_query(request).without_state()),
        "quotas": [row for row in quotas.rows(quota_access.visible_quotas(user)) if row.limit or row.used][:12],
        "marks": selectors.pictures(plant, pools),
        "silent": [view for view in plant.clusters if not view.reachable],
        "socket": f"/ws/tasks?{request.GET.urlencode()}",
    }
    return render_page(request, "dashboard/overview.html", context, parts=("now",))


@require_safe
@login_required
def resources(request: HttpRequest) -> HttpResponse:
    plant, pools = scheduling.plant(), clusters.visible_pool_ids(cast("User", request.user))
    context = {"marks": selectors.pictures(plant, pools), "cpu_nodes": selectors.cpu_nodes(plant, pools)}
    return render_page(request, "dashboard/resources.html", context, parts=("plant",))


@require_safe
@login_required
def cluster_list(request: HttpRequest) -> HttpResponse:
    user, plant = cast("User", request.user), scheduling.plant()
    rows = [
        (
            cluster,
            [selectors.node_picture(node) for node in plant.nodes if node.cluster_id == cluster.pk],
            tally(from_wire(cluster.checks)),
        )
        for cluster in clusters.visible_clusters(user)
    ]
    context = {"clusters": rows, "manages": clusters.may_manage(user)}
    return render_page(request, "dashboard/cluster_list.html", context, parts=("clusters",))
