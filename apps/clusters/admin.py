"""Clusters, nodes, pools and marks in the admin panel."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import ActionForm

from apps.audit.admin_base import AuditedAdmin, ReadOnlyAdmin, source_of
from apps.clusters import services
from apps.clusters.domain.profile import read_profile
from apps.clusters.models import AcceleratorType, Cluster, Node, Pool
from apps.kernel import clock
from apps.kernel.quantities import format_cpu, format_memory


class ClusterForm(forms.ModelForm[Cluster]):
    """Secrets are written, never read back: an empty field leaves what is sealed as it is."""

    token = forms.CharField(
        label=_("bearer token"), required=False, max_length=8000, widget=forms.PasswordInput(render_value=False)
    )
    ca = forms.CharField(
        label=_("CA certificates (PEM)"), required=False, max_length=100_000, widget=forms.Textarea, strip=False
    )
    verify = forms.BooleanField(label=_("check the server's certificate"), required=False, initial=True)
    shipper_token = forms.CharField(
        label=_("token of its log shipper"),
        required=False,
        min_length=16,
        max_length=200,
        widget=forms.PasswordInput(render_value=False),
        help_text=_("only its digest is kept"),
    )

    class Meta:
        model = Cluster
        fields = ("name", "server", "namespace_prefix", "enabled", "profile")

    def clean_profile(self) -> dict[str, Any]:
        profile: dict[str, Any] = self.cleaned_data["profile"] or {}
        try:
            read_profile(profile)
        except msgspec.ValidationError as fault:
            raise ValidationError(str(fault)) from None
        return profile

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        touched = {"server", "ca", "verify"} & set(self.changed_data)
        if not values.get("token") and (touched or self.instance.pk is None):
            self.add_error("token", gettext("give the token with the address or certificate that it is for"))
        elif values.get("token") and "server" in values:
            self._check(values)
        return values

    def new_credentials(self) -> dict[str, Any]:
        """What to sign in with from now on; empty when it stays."""
        values = self.cleaned_data
        if not values.get("token"):
            return {}
        return {name: values[name] for name in ("server", "token", "verify")} | {"ca": values["ca"] or None}

    def new_shipper_digest(self) -> str:
        """SHA-256 of the shipper's new token, empty when it stays (logs.access compares it)."""
        token: str = self.cleaned_data.get("shipper_token", "")
        return hashlib.sha256(token.encode()).hexdigest() if token else ""

    def _check(self, values: dict[str, Any]) -> None:
        fault = services.credentials_fault(values["server"], values["token"], values.get("ca") or None, now=clock.now())
        for field, sentences in (fault.fields if fault else {}).items():
            self.add_error(field, list(sentences))


@admin.register(Cluster)
class ClusterAdmin(AuditedAdmin):
    """Credentials go in and never come out: they are sealed by the service and shown nowhere."""

    form = ClusterForm
    list_display = ("name", "server", "enabled", "connection", "last_contact_at", "version")
    list_filter = ("enabled",)
    search_fields = ("name", "server")
    readonly_fields = (
        "version",
        "capabilities",
        "last_contact_at",
        "unreachable_since",
        "last_error",
        "credentials_changed_at",
    )
    fieldsets = (
        (None, {"fields": ("name", "server", "namespace_prefix", "enabled", "profile")}),
        (_("Credentials"), {"fields": ("token", "ca", "verify", "shipper_token", "credentials_changed_at")}),
        (_("As last seen"), {"fields": readonly_fields[:-1]}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Cluster | None = None) -> tuple[str, ...]:
        return self.readonly_fields if obj is None else ("name", "namespace_prefix", *self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return False  # tasks' histories refer to it; "takes tasks" is the switch

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        by: Any = request.user
        facts: dict[str, Any] = {"by": by, "now": clock.now()}
        if change:
            if form.new_credentials():
                services.rotate_credentials(obj, **form.new_credentials(), **facts)
            obj.save(update_fields=["enabled", "profile"])
        else:
            prefix = form.cleaned_data["namespace_prefix"]
            made = services.add_cluster(obj.name, **form.new_credentials(), namespace_prefix=prefix, **facts)
            obj.pk, obj.credentials, obj.created_at = made.pk, made.credentials, made.created_at
            Cluster.objects.filter(pk=obj.pk).update(enabled=obj.enabled, profile=obj.profile)
        if form.new_shipper_digest():
            Cluster.objects.filter(pk=obj.pk).update(ingest_digest=form.new_shipper_digest())
        told = {name: form.cleaned_data.get(name) for name in form.changed_data}
        self.note(request, obj, "changed" if change else "configured", after=told)

    @admin.display(description=_("connection"), ordering="unreachable_since")
    def connection(self, cluster: Cluster) -> str:
        if cluster.unreachable_since:
            return gettext("silent")
        return gettext("live") if cluster.last_contact_at else gettext("not asked yet")


class PoolChoice(ActionForm):  # type: ignore[misc] # unfold carries no types
    """The pool beside the action that puts nodes into it."""

    pool = forms.ModelChoiceField(Pool.objects.all(), required=False, label=_("pool"))


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    """What the observer saw; people only say which pool a node belongs to."""

    list_display = (
        "name",
        "cluster",
        "pool",
        "mark",
        "cards",
        "cpu_text",
        "memory_text",
        "ready",
        "unschedulable",
        "seen_at",
    )
    list_filter = ("cluster", "pool", "mark", "ready", "unschedulable")
    list_select_related = ("cluster", "pool", "mark")
    search_fields = ("name",)
    actions = ("put_into_pool", "take_out")
    action_form = PoolChoice

    @admin.action(description=_("Put into the chosen pool"), permissions=["assign"])
    def put_into_pool(self, request: HttpRequest, nodes: QuerySet[Node]) -> None:
        chosen = request.POST.get("pool", "")
        pool = Pool.objects.filter(pk=int(chosen)).first() if chosen.isdecimal() and len(chosen) < 10 else None
        if pool is None:
            self.message_user(request, gettext("Choose a pool beside the action."), messages.ERROR)
        else:
            self._assign(request, nodes, pool)

    @admin.action(description=_("Take out of their pools"), permissions=["assign"])
    def take_out(self, request: HttpRequest, nodes: QuerySet[Node]) -> None:
        self._assign(request, nodes, None)

    def _assign(self, request: HttpRequest, nodes: QuerySet[Node], pool: Pool | None) -> None:
        by: Any = request.user
        services.assign_pool(list(nodes), pool, by=by, now=clock.now(), source=source_of(request))
        done = gettext("%(count)d nodes, pool %(pool)s") % {"count": len(nodes), "pool": pool or "–"}
        self.message_user(request, done)

    def has_assign_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))

    @admin.display(description=_("cores"), ordering="cpu")
    def cpu_text(self, node: Node) -> str:
        return format_cpu(node.cpu)

    @admin.display(description=_("memory"), ordering="memory")
    def memory_text(self, node: Node) -> str:
        return format_memory(node.memory)


@admin.register(Pool)
class PoolAdmin(AuditedAdmin):
    """A pool's name is a label on its nodes, so it never changes."""

    list_display = ("name", "kind", "project", "lend_idle")
    list_filter = ("kind", "project")
    list_select_related = ("project",)
    search_fields = ("name", "project__slug")
    autocomplete_fields = ("project",)

    def get_readonly_fields(self, request: HttpRequest, obj: Pool | None = None) -> tuple[str, ...]:
        return () if obj is None else ("name",)


class MarkForm(forms.ModelForm[AcceleratorType]):
    def clean_node_selector(self) -> dict[str, str]:
        try:
            return msgspec.convert(self.cleaned_data["node_selector"], dict[str, str])
        except msgspec.ValidationError:
            raise ValidationError(gettext('labels are an object of texts, such as {"gpu": "a100"}')) from None


@admin.register(AcceleratorType)
class MarkAdmin(AuditedAdmin):
    """What is bound to one card, and its price; tasks refer to the mark by its name, so that never changes."""

    form = MarkForm
    list_display = (
        "mark",
        "label",
        "resource_name",
        "cards_per_node",
        "cpu_per_card",
        "memory_per_card",
        "price_per_card_hour",
    )
    list_editable = ("price_per_card_hour",)
    list_filter = ("is_device", "resource_name")
    search_fields = ("mark", "label")

    def get_readonly_fields(self, request: HttpRequest, obj: AcceleratorType | None = None) -> tuple[str, ...]:
        return () if obj is None else ("mark",)
