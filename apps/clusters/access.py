"""Who may read the plant: everybody signed in, but for Pools of Projects that are not theirs (failures F26)."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.clusters.models import Cluster, Node, Pool
from apps.organisations.models import Membership


def visible_clusters(user: User) -> QuerySet[Cluster]:
    """Every cluster, without its sealed credentials."""
    return Cluster.objects.defer("credentials", "ingest_digest").order_by("name")


def cluster_for(user: User, name: str) -> Cluster:
    """The cluster of that name; raises Http404 where there is none."""
    found = visible_clusters(user).filter(name=name).first()
    if found is None:
        raise Http404
    return found


def may_manage(user: User) -> bool:
    """Whether the person may add clusters and change how the platform signs in to them: administrators do."""
    return user.is_superuser


def check_may_manage(user: User) -> None:
    """Raise PermissionDenied unless ``may_manage``."""
    if not may_manage(user):
        raise PermissionDenied


def cluster_to_manage(user: User, name: str) -> Cluster:
    """The cluster, with what a check or a rotation needs of it; raises PermissionDenied, then Http404."""
    check_may_manage(user)
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        raise Http404
    return found


def visible_nodes(user: User, cluster: Cluster) -> QuerySet[Node]:
    """The cluster's present nodes; which Pool one is in is told by ``visible_pools`` alone."""
    return cluster.nodes.filter(gone_at=None).select_related("mark", "pool")


def visible_pools(user: User) -> QuerySet[Pool]:
    """The public Pools and those of the person's Projects; all of them for an administrator or auditor."""
    pools = Pool.objects.select_related("project")
    if user.is_superuser or user.is_auditor:
        return pools
    own_projects = Membership.objects.filter(user=user).values("project_id")
    return pools.filter(Q(project=None) | Q(project__in=own_projects))


def visible_pool_ids(user: User) -> frozenset[int]:
    """``visible_pools`` by key; one query."""
    return frozenset(visible_pools(user).values_list("pk", flat=True))
