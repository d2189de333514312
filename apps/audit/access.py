"""Who may read the audit: administrators and auditors (domain.md §13)."""

from __future__ import annotations

from typing import Protocol

from django.db.models import QuerySet

from apps.audit.models import AuditEvent


class Reader(Protocol):
    is_superuser: bool
    is_auditor: bool


def visible_events(user: Reader) -> QuerySet[AuditEvent]:
    """Every event for an administrator or auditor, none for anybody else."""
    events = AuditEvent.objects.select_related("actor")
    return events if user.is_superuser or user.is_auditor else events.none()
