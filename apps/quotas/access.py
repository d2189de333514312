"""The only door from a person to a Quota (domain.md §13): members read their Project's, everyone their own."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.organisations.models import Membership
from apps.quotas.models import Quota


def visible_quotas(user: User) -> QuerySet[Quota]:
    """The quotas that the person may read."""
    quotas = Quota.objects.select_related("project", "user")
    if user.is_superuser or user.is_auditor:
        return quotas
    own_projects = Membership.objects.filter(user=user).values("project_id")
    return quotas.filter(Q(user=user) | Q(project__in=own_projects))


def quota_to_change(user: User, pk: int) -> Quota:
    """The Quota, for an administrator; raises Http404 to strangers, PermissionDenied to whoever may only read it."""
    quota = visible_quotas(user).filter(pk=pk).first()
    if quota is None:
        raise Http404
    if not user.is_superuser:
        raise PermissionDenied
    return quota
