"""Write down who changed what, inside the transaction of the change itself (domain.md §13)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models

from apps.audit.domain.cleaning import clean, clean_text
from apps.audit.models import AuditEvent
from apps.audit.selectors import subject_key


def record(
    action: str,
    *,
    on: models.Model,
    by: AbstractBaseUser | None,
    now: datetime,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    source: str = "",
) -> None:
    """One AuditEvent in the caller's transaction; ``by`` None is the platform itself. Secrets are never stored."""
    kind, identity = subject_key(on)
    AuditEvent.objects.create(
        at=now,
        actor_id=by.pk if by is not None else None,
        actor_name=clean_text(by.get_username(), 150) if by is not None else "",
        action=clean_text(action, 60),
        subject_type=kind,
        subject_id=identity,
        subject_name=clean_text(str(on), 200),
        before=clean(before or {}),
        after=clean(after or {}),
        source=clean_text(source, 200),
    )
