"""How much a scope may hold in public pools, and the append-only books of who holds what (domain.md §6)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.clusters.models import Pool
from apps.organisations.models import Project

RESOURCE_PATTERN = r"^(cpu|memory|cards:[a-z0-9]([-a-z0-9]*[a-z0-9])?)$"


class Quota(models.Model):
    """A limit of one scope for one resource: ``cpu`` (millicores), ``memory`` (MiB) or ``cards:<mark>`` (pieces).

    ``held`` is the sum of open reservations, kept in the same transaction as the ledger rows; it may stand above a
    limit that was lowered later (overhang), never below zero.
    """

    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="quotas")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="quotas"
    )
    resource = models.CharField(_("resource"), max_length=60)
    limit = models.BigIntegerField(_("limit"), default=0)
    held = models.BigIntegerField(_("held"), default=0, editable=False)

    class Meta:
        verbose_name = _("quota")
        verbose_name_plural = _("quotas")
        ordering = ("project__slug", "user__username", "resource")
        constraints = (
            models.CheckConstraint(condition=Q(limit__gte=0), name="quota_limit_not_negative"),
            models.CheckConstraint(condition=Q(held__gte=0), name="quota_held_not_negative"),
            models.CheckConstraint(
                condition=Q(project__isnull=False, user__isnull=True) | Q(project__isnull=True, user__isnull=False),
                name="quota_of_one_project_or_one_user",
            ),
            models.CheckConstraint(condition=Q(resource__regex=RESOURCE_PATTERN), name="quota_resource_known"),
            models.UniqueConstraint(
                fields=["project", "resource"], condition=Q(user=None), name="one_quota_per_project_and_resource"
            ),
            models.UniqueConstraint(
                fields=["user", "resource"], condition=Q(project=None), name="one_quota_per_user_and_resource"
            ),
        )

    def __str__(self) -> str:
        return f"{self.resource} ≤ {self.limit}"


class Reservation(models.Model):
    """This Task's attempt holds that much: of a scope's quota, or of a pool's capacity. Never changed nor deleted."""

    quota = models.ForeignKey(Quota, null=True, on_delete=models.PROTECT, related_name="reservations")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="reservations")
    task_id = models.UUIDField(_("task"), db_index=True)
    attempt = models.PositiveIntegerField(_("attempt"))
    resource = models.CharField(_("resource"), max_length=60)
    amount = models.BigIntegerField(_("amount"))
    at = models.DateTimeField(_("since"))

    class Meta:
        verbose_name = _("reservation")
        verbose_name_plural = _("reservations")
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(condition=Q(amount__gt=0), name="reservation_amount_positive"),
            models.CheckConstraint(
                condition=Q(quota__isnull=False, pool__isnull=True) | Q(quota__isnull=True, pool__isnull=False),
                name="reservation_of_a_quota_or_a_pool",
            ),
            models.CheckConstraint(condition=Q(resource__regex=RESOURCE_PATTERN), name="reservation_resource_known"),
        )

    def __str__(self) -> str:
        return f"{self.resource} {self.amount}"


class Release(models.Model):
    """The end of one Reservation; one at most, so nothing is ever given back twice."""

    reservation = models.OneToOneField(Reservation, on_delete=models.PROTECT, related_name="release")
    at = models.DateTimeField(_("released"))
    why = models.CharField(_("why"), max_length=40)

    class Meta:
        verbose_name = _("release")
        verbose_name_plural = _("releases")

    def __str__(self) -> str:
        return self.why
