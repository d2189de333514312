"""Admissions in the admin panel: which attempt went where, after how long; to look at."""

from __future__ import annotations

from django.contrib import admin

from apps.audit.admin_base import ReadOnlyAdmin
from apps.scheduling.models import Admission


@admin.register(Admission)
class AdmissionAdmin(ReadOnlyAdmin):
    list_display = ("at", "attempt", "cluster", "pool", "waited_seconds")
    list_filter = ("cluster", "pool", "at")
    list_select_related = ("attempt__task", "cluster", "pool")
    search_fields = ("attempt__object_name", "attempt__task__display_name")
