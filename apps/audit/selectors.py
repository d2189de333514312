"""The audit as people read it."""

from __future__ import annotations

from django.db import models
from django.db.models import QuerySet

from apps.audit.models import AuditEvent


def subject_key(subject: models.Model) -> tuple[str, str]:
    """What kind of thing it is (``tasks.task``) and its identity, as the audit keeps them."""
    return subject._meta.label_lower[:60], str(subject.pk)[:60]  # noqa: SLF001 - Django's public way to a model's name


def history(subject: models.Model) -> QuerySet[AuditEvent]:
    """What was done to one thing, the newest first."""
    kind, identity = subject_key(subject)
    events = AuditEvent.objects.filter(subject_type=kind, subject_id=identity)
    return events.select_related("actor").order_by("-at", "-id")
