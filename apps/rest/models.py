"""Answers kept so that a call sent twice is done once (rest.md, Idempotency-Key)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class IdempotencyRecord(models.Model):
    """The first answer under one key of one person, written in the same transaction as what was done."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(_("key"), max_length=255)
    digest = models.CharField(_("digest of the request"), max_length=64)
    status = models.PositiveSmallIntegerField(_("status"), default=0)
    headers = models.JSONField(_("headers"), default=dict)
    body = models.JSONField(_("answer"), default=dict)
    created_at = models.DateTimeField(_("created"), db_index=True)

    class Meta:
        verbose_name = _("kept answer")
        verbose_name_plural = _("kept answers")
        constraints = (
            models.UniqueConstraint(fields=["owner", "key"], name="one_answer_per_person_and_key"),
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="answer_digest_is_sha256"),
        )
