"""People and their API tokens."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Theme(models.TextChoices):
    AUTO = "auto", _("as the system")
    LIGHT = "light", _("light")
    DARK = "dark", _("dark")


class User(AbstractUser):
    """A person. ``is_superuser`` is the administrator; an auditor reads everything but secrets (domain.md §13)."""

    is_auditor = models.BooleanField(_("auditor"), default=False, help_text=_("reads everything, changes nothing"))
    language = models.CharField(_("language"), max_length=10, blank=True)
    theme = models.CharField(_("appearance"), max_length=5, choices=Theme.choices, default=Theme.AUTO)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)

    class Meta(AbstractUser.Meta):
        constraints = (
            models.CheckConstraint(
                condition=Q(username__regex=r"^[\w.@+-]+$"), name="user_name_has_no_spaces_or_markup"
            ),
        )


class ApiToken(models.Model):
    """A token for scripts: only its SHA-256 is kept; ``prefix`` lets its owner recognise it."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens", verbose_name=_("owner"))
    name = models.CharField(_("name"), max_length=60)
    prefix = models.CharField(_("begins with"), max_length=12)
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=30), verbose_name=_("scopes"))
    created_at = models.DateTimeField(_("created"))
    expires_at = models.DateTimeField(_("expires"))
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="token_expires_after_creation"),
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="token_digest_is_sha256"),
        )

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"
