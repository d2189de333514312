"""People and their tokens in the admin panel."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from apps.accounts import services
from apps.accounts.models import ApiToken, User
from apps.audit.admin_base import AuditedAdmin, ReadOnlyAdmin, source_of
from apps.kernel import clock

# Rights come from roles (domain.md §13), never from groups of permissions; no address is confirmed by mail.
for unused in (Group, EmailAddress):
    admin.site.unregister(unused)


@admin.register(User)
class UserAdmin(AuditedAdmin, DjangoUserAdmin):  # type: ignore[type-arg] # generic for the checker only
    """People are locked out, not deleted: their tasks and histories stay theirs."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = (
        "username",
        "first_name",
        "last_name",
        "email",
        "is_active",
        "is_superuser",
        "is_auditor",
        "last_login",
    )
    list_filter = ("is_active", "is_superuser", "is_auditor", "memberships__project")
    search_fields = ("username", "first_name", "last_name", "email")
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email", "language", "theme", "time_zone")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser", "is_auditor")}),
        (_("Times"), {"fields": ("last_login", "date_joined")}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002 - Django's name
        with transaction.atomic():
            answer: HttpResponse = super().user_change_password(request, id, form_url)
            person = self.get_object(request, id)
            if request.method == "POST" and answer.status_code == 302 and person is not None:
                self.note(request, person, "password_set")
        return answer


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens are seen and revoked here; their text is known to their owner alone."""

    list_display = ("prefix", "owner", "name", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_filter = ("owner", "revoked_at")
    list_select_related = ("owner",)
    search_fields = ("prefix", "name", "owner__username")
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description=_("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        by: Any = request.user
        for token in tokens:
            services.revoke_token(token, by=by, now=clock.now(), source=source_of(request))
        self.message_user(request, gettext("%(count)d tokens revoked") % {"count": len(tokens)})

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))
