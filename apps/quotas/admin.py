"""Quotas, an operator's main screen: what each scope may hold beside what it holds, changed in the list itself."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.audit.admin_base import AuditedAdmin, source_of
from apps.kernel import clock
from apps.kernel.text import translated
from apps.quotas import selectors, services
from apps.quotas.domain.ledger import Standing, limit_fault, resource_fault
from apps.quotas.models import Quota


class LimitForm(forms.ModelForm[Quota]):
    """The same rules as everywhere: whole, not negative, and for a new row a resource that exists."""

    def clean_limit(self) -> int:
        limit: int = self.cleaned_data["limit"]
        fault = limit_fault(limit)
        if fault is not None:
            raise ValidationError(translated(fault, gettext))
        return limit

    def clean_resource(self) -> str:
        resource: str = self.cleaned_data["resource"]
        fault = resource_fault(resource)
        if fault is not None:
            raise ValidationError(translated(fault, gettext))
        return resource


class ScopeFilter(admin.SimpleListFilter):
    title = _("scope")
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("project", _("projects")), ("user", _("people"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Quota]) -> QuerySet[Quota]:
        return queryset.filter(**{f"{self.value()}__isnull": False}) if self.value() else queryset


class UseFilter(admin.SimpleListFilter):
    title = _("use")
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("over", _("above its limit")), ("full", _("nothing free")), ("used", _("in use"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Quota]) -> QuerySet[Quota]:
        wanted: dict[str, dict[str, Any]] = {
            "over": {"held__gt": F("limit")},
            "full": {"held__gte": F("limit")},
            "used": {"held__gt": 0},
        }
        return queryset.filter(**wanted.get(self.value() or "", {}))


@admin.register(Quota)
class QuotaAdmin(AuditedAdmin):
    """Changes go through the service, which locks, checks and audits; there is no way around it."""

    form = LimitForm
    list_display = ("scope", "resource", "limit", "used", "held_by_pending", "free", "overhang", "bar")
    list_display_links = ("scope",)
    list_editable = ("limit",)
    list_filter = (ScopeFilter, UseFilter, "resource", "project", "project__department")
    list_select_related = ("project", "user")
    search_fields = ("project__slug", "project__name", "user__username", "resource")
    autocomplete_fields = ("project", "user")
    fields = ("project", "user", "resource", "limit", "used", "held_by_pending", "free", "overhang", "holders")
    readonly_fields = ("used", "held_by_pending", "free", "overhang", "holders")
    ordering = ("project__slug", "user__username", "resource")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Quota]:
        return selectors.with_pending(super().get_queryset(request))

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> type[ModelForm[Quota]]:
        form: type[ModelForm[Quota]] = super().get_changelist_form(request, **(kwargs | {"form": LimitForm}))
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Quota | None = None) -> tuple[str, ...]:
        return self.readonly_fields if obj is None else ("project", "user", "resource", *self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Quota | None = None) -> bool:
        return False  # the ledger refers to the row; a limit of 0 says the same

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:
        by: Any = request.user
        facts: dict[str, Any] = {"by": by, "now": clock.now(), "source": source_of(request)}
        if change:
            services.set_limit(obj, obj.limit, **facts)
            return
        made = services.add_quota(resource=obj.resource, limit=obj.limit, project=obj.project, user=obj.user, **facts)
        obj.pk = made.pk

    @admin.display(description=_("scope"), ordering="project__slug")
    def scope(self, quota: Quota) -> str:
        return quota.project.slug if quota.project else str(quota.user)

    @admin.display(description=_("used"), ordering="held")
    def used(self, quota: Quota) -> str:
        return services.amount_text(quota.resource, quota.held)

    @admin.display(description=_("of it waiting"))
    def held_by_pending(self, quota: Quota) -> str:
        return services.amount_text(quota.resource, getattr(quota, "pending", None) or 0)

    @admin.display(description=_("free"))
    def free(self, quota: Quota) -> str:
        return services.amount_text(quota.resource, Standing(quota.limit, quota.held).free)

    @admin.display(description=_("overhang"))
    def overhang(self, quota: Quota) -> str:
        above = Standing(quota.limit, quota.held).overhang
        return services.amount_text(quota.resource, above) if above else "–"

    @admin.display(description=_("use"))
    def bar(self, quota: Quota) -> SafeString:
        most = max(quota.limit, quota.held, 1)
        return format_html(
            '<meter min="0" max="{}" value="{}" high="{}" optimum="0" title="{} / {}"></meter>',
            most,
            quota.held,
            quota.limit,
            services.amount_text(quota.resource, quota.held),
            services.amount_text(quota.resource, quota.limit),
        )

    @admin.display(description=_("held by tasks"))
    def holders(self, quota: Quota) -> str:
        (row,) = selectors.rows(Quota.objects.filter(pk=quota.pk))
        return ", ".join(str(task) for task in row.holders[: services.MOST_HOLDERS]) or "–"
