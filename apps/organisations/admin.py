"""Departments, Projects and their members in the admin panel."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext
from unfold.admin import TabularInline

from apps.audit.admin_base import AuditedAdmin, ReadOnlyAdmin, Rights
from apps.kernel import clock
from apps.kernel.names import DNS_1035_LABEL
from apps.organisations.domain.roles import Role
from apps.organisations.models import Department, Membership, Project


@admin.register(Department)
class DepartmentAdmin(AuditedAdmin):
    list_display = ("name", "slug")
    search_fields = ("name", "slug")


class MembersFormSet(TabularInline.formset):  # type: ignore[misc] # unfold carries no types
    """A Project keeps an owner, here as everywhere."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors):
            return
        stay = [part.cleaned_data for part in self.forms if part.cleaned_data and not part.cleaned_data.get("DELETE")]
        if not any(values.get("role") == Role.OWNER for values in stay):
            raise ValidationError(gettext("A project needs at least one owner: name another one first."))


class MembersInline(Rights, TabularInline):  # type: ignore[misc] # unfold carries no types
    model = Membership
    formset = MembersFormSet
    autocomplete_fields = ("user",)
    extra = 0
    min_num = 1


class ProjectForm(forms.ModelForm[Project]):
    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if not DNS_1035_LABEL.match(slug):
            raise ValidationError(gettext("lower-case letters, digits and hyphens, beginning with a letter"))
        return slug


@admin.register(Project)
class ProjectAdmin(AuditedAdmin):
    """The short name is part of a namespace's name on every cluster, so it never changes."""

    form = ProjectForm
    list_display = ("slug", "name", "department", "created_at")
    list_filter = ("department",)
    list_select_related = ("department",)
    search_fields = ("slug", "name")
    fields = ("slug", "name", "department")
    inlines = (MembersInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> tuple[str, ...]:
        return () if obj is None else ("slug",)

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False  # its tasks, quotas and books stay

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:
        if not change:
            obj.created_at = clock.now()
        super().save_model(request, obj, form, change)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """To look people up; roles are given on the Project's page, where its last owner is kept."""

    list_display = ("user", "project", "role")
    list_filter = ("role", "project")
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__slug")
