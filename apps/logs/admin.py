"""What log shippers sent that could not become lines: counted, so that an operator sees a shipper gone wrong."""

from __future__ import annotations

from django.contrib import admin

from apps.audit.admin_base import ReadOnlyAdmin
from apps.logs.models import SetAside


@admin.register(SetAside)
class SetAsideAdmin(ReadOnlyAdmin):
    list_display = ("cluster", "reason", "count", "first_at", "last_at", "sample")
    list_filter = ("cluster", "reason")
    list_select_related = ("cluster",)
