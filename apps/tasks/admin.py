"""Tasks in the admin panel: to look at. What people do to them goes through the pages and REST, with their checks."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import TabularInline

from apps.audit.admin_base import ReadOnlyAdmin, Rights
from apps.tasks.models import Attempt, Task


class AttemptsInline(Rights, TabularInline):  # type: ignore[misc] # unfold carries no types
    model = Attempt
    fields = (
        "number",
        "object_name",
        "namespace",
        "cluster",
        "pool",
        "admitted_at",
        "running_at",
        "finished_at",
        "outcome",
    )
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Task | None = None) -> bool:
        return False


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = (
        "display_name",
        "object_name",
        "kind",
        "state",
        "reason",
        "owner",
        "project",
        "priority",
        "mark",
        "cards",
        "created_at",
    )
    list_filter = ("state", "kind", "priority", "mark", "project")
    list_select_related = ("owner", "project")
    search_fields = ("display_name", "object_name", "id", "owner__username", "project__slug")
    exclude = ("spec",)  # a spec may hold secrets in its environment
    inlines = (AttemptsInline,)
