"""The audit in the admin panel: to read, to filter, never to touch."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.audit.access import visible_events
from apps.audit.admin_base import ReadOnlyAdmin
from apps.audit.models import AuditEvent


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor_name", "action", "subject_type", "subject_name", "source")
    list_filter = ("action", "subject_type", "at")
    search_fields = ("actor_name", "subject_name", "subject_id", "action")
    fields = ("at", "actor_name", "action", "subject_type", "subject_id", "subject_name", "was", "became", "source")
    readonly_fields = fields
    date_hierarchy = "at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        reader: Any = request.user
        return visible_events(reader)

    @admin.display(description=_("before"))
    def was(self, event: AuditEvent) -> SafeString:
        return _pretty(event.before)

    @admin.display(description=_("after"))
    def became(self, event: AuditEvent) -> SafeString:
        return _pretty(event.after)


def _pretty(values: dict[str, Any]) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(values, indent=1, ensure_ascii=False))
