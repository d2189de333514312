"""Who changed what, from where: append-only, written in the same transaction as the change (domain.md §13)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class AuditEvent(models.Model):
    """One change. ``actor`` None is the platform itself; the name is kept beside it so that history outlives people."""

    at = models.DateTimeField(_("when"), db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", verbose_name=_("who")
    )
    actor_name = models.CharField(_("name"), max_length=150, blank=True)
    action = models.CharField(_("action"), max_length=60)
    subject_type = models.CharField(_("kind of thing"), max_length=60)
    subject_id = models.CharField(_("identity"), max_length=60)
    subject_name = models.CharField(_("thing"), max_length=200)
    before = models.JSONField(_("before"), default=dict, blank=True)
    after = models.JSONField(_("after"), default=dict, blank=True)
    source = models.CharField(_("from where"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        ordering = ("-at", "-id")
        indexes = (models.Index(fields=["subject_type", "subject_id", "-at"], name="audit_by_subject"),)

    def __str__(self) -> str:
        return f"{self.action} {self.subject_name}"
