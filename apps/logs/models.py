"""Events that could not become lines, counted by cluster and reason so that an operator sees them.

The lines themselves are no Django model: ``logs_logline`` is partitioned by day and written by COPY (postgres_store).
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.clusters.models import Cluster
from apps.logs.domain.vector import Fault


class SetAside(models.Model):
    """How many events of a cluster were not stored for one reason; ``sample`` is the latest one, cut and untrusted."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+", verbose_name=_("cluster"))
    reason = models.CharField(_("reason"), max_length=20, choices=[(fault.value, fault.value) for fault in Fault])
    count = models.PositiveBigIntegerField(_("events"), default=0)
    sample = models.CharField(_("latest"), max_length=500, blank=True)
    first_at = models.DateTimeField(_("first"))
    last_at = models.DateTimeField(_("last"))

    class Meta:
        verbose_name = _("set-aside log events")
        verbose_name_plural = _("set-aside log events")
        ordering = ("cluster__name", "reason")
        constraints = (models.UniqueConstraint(fields=["cluster", "reason"], name="one_count_per_cluster_and_reason"),)

    def __str__(self) -> str:
        return f"{self.reason} {self.count}"
