"""What every page of the admin panel is built on: who may, and an AuditEvent for each change (domain.md §13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from apps.audit import services as audit
from apps.kernel import clock


def source_of(request: HttpRequest) -> str:
    """From where an administrator works, for the audit."""
    return f"admin {request.META.get('REMOTE_ADDR', '')}".strip()


class Rights:
    """Administrators change, auditors read, everybody else sees nothing; Django's own permissions are not used."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _reads(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _reads(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _changes(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _changes(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _changes(request)


class AuditedAdmin(Rights, ModelAdmin):  # type: ignore[misc] # unfold carries no types
    """Each row that is added, changed or deleted here has its audit row in the same transaction."""

    list_fullwidth = True
    show_full_result_count = False

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:
        before = _values(form.initial, form.changed_data) if change else {}
        super().save_model(request, obj, form, change)
        after = _values(form.cleaned_data, form.changed_data)
        if form.changed_data:
            self.note(request, obj, "changed" if change else "added", before=before, after=after)

    def save_formset(
        self, request: HttpRequest, form: ModelForm[Any], formset: BaseModelFormSet[Any, Any], change: bool
    ) -> None:
        kept = {id(part.instance): _values(part.initial, part.changed_data) for part in formset.forms}
        removed = [(part.instance, dict(part.initial)) for part in getattr(formset, "deleted_forms", [])]
        for row, values in removed:
            if row.pk is not None:
                self.note(request, row, "deleted", before=values)
        super().save_formset(request, form, formset, change)
        for row, fields in getattr(formset, "changed_objects", []):
            after = {name: _word(getattr(row, name)) for name in fields}
            self.note(request, row, "changed", before=kept.get(id(row), {}), after=after)
        for row in getattr(formset, "new_objects", []):
            self.note(request, row, "added", after=_row(row))

    def delete_model(self, request: HttpRequest, obj: models.Model) -> None:
        self.note(request, obj, "deleted", before=_row(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Iterable[models.Model]) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def note(
        self,
        request: HttpRequest,
        row: models.Model,
        done: str,
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        """Write the audit row of one thing done here."""
        action = f"{row._meta.model_name}.{done}"  # noqa: SLF001 - Django's public way to a model's name
        by: Any = request.user
        audit.record(action, on=row, by=by, now=clock.now(), before=before, after=after, source=source_of(request))


class ReadOnlyAdmin(AuditedAdmin):
    """A page to look at: nothing is added, changed or deleted here."""

    actions: Any = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _reads(request: HttpRequest) -> bool:
    user = request.user
    return bool(user.is_active and (getattr(user, "is_superuser", False) or getattr(user, "is_auditor", False)))


def _changes(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_superuser", False))


def _values(source: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    return {name: _word(source.get(name)) for name in fields}


def _row(row: models.Model) -> dict[str, Any]:
    fields = row._meta.concrete_fields  # noqa: SLF001 - Django's public way to a model's fields
    return {field.name: _word(getattr(row, field.attname)) for field in fields}


def _word(value: Any) -> Any:
    """Rows by their name, several of them as a list; everything else is the audit's to make storable."""
    if isinstance(value, models.QuerySet):
        return [str(row) for row in value]
    return str(value) if isinstance(value, models.Model) else value
