"""Nouns of the organisation, read in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, QuerySet

from apps.organisations.models import Membership, Project


def members(project: Project) -> QuerySet[Membership]:
    """Who is in the Project, with the person beside each row."""
    return project.memberships.select_related("user").order_by("user__username")


def with_member_count(projects: QuerySet[Project]) -> Sequence[Project]:
    """The Projects, each with ``member_count``."""
    return list(projects.annotate(member_count=Count("memberships", distinct=True)).order_by("slug"))
