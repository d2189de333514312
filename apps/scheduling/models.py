"""Stored outcomes of admission: who was placed where, and on which score (domain.md §§7, 9)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.clusters.models import Cluster, Pool
from apps.tasks.models import Attempt


class Admission(models.Model):
    """The decision that gave an attempt its cluster and pool, once per life on a cluster."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="admissions")
    at = models.DateTimeField()
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+")
    waited_seconds = models.PositiveIntegerField()

    class Meta:
        verbose_name = _("admission")
        verbose_name_plural = _("admissions")
        ordering = ("-at", "-id")


class Placement(models.Model):
    """One cluster's score card inside an Admission, as shown to the user."""

    admission = models.ForeignKey(Admission, on_delete=models.CASCADE, related_name="placements")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    chosen = models.BooleanField(default=False)
    card = models.JSONField(default=dict)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["admission", "cluster"], name="one_score_card_per_admission_and_cluster"),
            models.UniqueConstraint(
                fields=["admission"], condition=models.Q(chosen=True), name="one_chosen_cluster_per_admission"
            ),
        )
