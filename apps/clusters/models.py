"""Clusters, their nodes, kinds of card and pools (domain.md §§1, 5, 6)."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.organisations.models import Project


class AcceleratorType(models.Model):
    """A kind of card or edge device. Cores (millicores) and memory (MiB) are bound to one card; devices bind none."""

    mark = models.CharField(_("mark"), max_length=40, unique=True)
    label = models.CharField(_("name"), max_length=80)
    resource_name = models.CharField(_("resource name"), max_length=100, default="nvidia.com/gpu")
    node_selector = models.JSONField(_("node labels"), default=dict)
    is_device = models.BooleanField(_("edge device"), default=False)
    cards_per_node = models.PositiveIntegerField(_("cards per node"))
    cpu_per_card = models.PositiveIntegerField(_("millicores per card"))
    memory_per_card = models.PositiveIntegerField(_("MiB per card"))
    price_per_card_hour = models.PositiveBigIntegerField(_("price per card and hour, micro-units"), default=0)

    class Meta:
        verbose_name = _("mark")
        verbose_name_plural = _("marks")
        ordering = ("mark",)
        constraints = (
            models.CheckConstraint(condition=Q(mark__regex=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"), name="mark_is_label"),
            models.CheckConstraint(condition=Q(cards_per_node__gte=1), name="mark_has_cards_per_node"),
            models.CheckConstraint(
                condition=Q(is_device=True) | Q(cpu_per_card__gte=1, memory_per_card__gte=1),
                name="mark_binds_cpu_and_memory_unless_device",
            ),
        )

    def __str__(self) -> str:
        return self.mark


class Cluster(models.Model):
    """One Kubernetes cluster. ``credentials`` is sealed (clusters.sealing); ``ingest_digest`` is of its log token.

    ``identity`` is the uid of its namespace kube-system, empty till it was seen. ``checks`` are the rows of
    domain/checklist.py as of ``checked_at``; the costly ones as of ``surveyed_at``.
    """

    name = models.CharField(_("name"), max_length=40, unique=True)
    server = models.CharField(_("API address"), max_length=300)
    credentials = models.BinaryField(_("sealed credentials"), default=b"")
    credentials_changed_at = models.DateTimeField(_("credentials changed"), null=True, blank=True)
    ingest_digest = models.CharField(_("digest of the log token"), max_length=64, blank=True)
    namespace_prefix = models.CharField(_("namespace prefix"), max_length=20, default="platform")
    enabled = models.BooleanField(_("takes tasks"), default=True)
    profile = models.JSONField(_("profile"), default=dict, blank=True)
    version = models.CharField(_("version"), max_length=40, blank=True)
    capabilities = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    last_contact_at = models.DateTimeField(_("last answer"), null=True, blank=True)
    unreachable_since = models.DateTimeField(_("silent since"), null=True, blank=True)
    last_error = models.CharField(_("last fault"), max_length=500, blank=True)
    identity = models.CharField(_("identity"), max_length=64, blank=True)
    checks = models.JSONField(_("check list"), default=list, blank=True)
    checked_at = models.DateTimeField(_("checked"), null=True, blank=True)
    surveyed_at = models.DateTimeField(_("checked in full"), null=True, blank=True)
    created_at = models.DateTimeField(_("added"))

    class Meta:
        verbose_name = _("cluster")
        verbose_name_plural = _("clusters")
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"), name="cluster_name_is_label"
            ),
            models.CheckConstraint(
                condition=Q(namespace_prefix__regex=r"^[a-z]([-a-z0-9]*[a-z0-9])?$"),
                name="cluster_namespace_prefix_is_label",
            ),
            models.UniqueConstraint(
                fields=["ingest_digest"], condition=~Q(ingest_digest=""), name="one_cluster_per_log_token"
            ),
        )

    def __str__(self) -> str:
        return self.name


class PoolKind(models.TextChoices):
    PUBLIC = "public", _("public")
    PROJECT = "project", _("reserved for a project")


class Pool(models.Model):
    """A set of Nodes, over any clusters; a Node is in one Pool at most, so pools cannot overlap."""

    name = models.CharField(_("name"), max_length=40, unique=True)
    kind = models.CharField(_("kind"), max_length=10, choices=PoolKind.choices)
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="pools", verbose_name=_("project")
    )
    lend_idle = models.BooleanField(_("lends idle capacity to low tasks"), default=False)

    class Meta:
        verbose_name = _("pool")
        verbose_name_plural = _("pools")
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"), name="pool_name_is_label"
            ),
            models.CheckConstraint(
                condition=Q(kind=PoolKind.PUBLIC, project=None, lend_idle=False)
                | Q(kind=PoolKind.PROJECT, project__isnull=False),
                name="project_pool_has_a_project_and_public_none",
            ),
        )

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """A machine as last seen by the observer: cpu in millicores, memory in MiB, cards of its mark."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes", verbose_name=_("cluster"))
    name = models.CharField(_("name"), max_length=253)
    uid = models.CharField(max_length=64, blank=True)
    pool = models.ForeignKey(
        Pool, null=True, blank=True, on_delete=models.SET_NULL, related_name="nodes", verbose_name=_("pool")
    )
    mark = models.ForeignKey(
        AcceleratorType, null=True, blank=True, on_delete=models.SET_NULL, related_name="nodes", verbose_name=_("mark")
    )
    cpu = models.PositiveBigIntegerField(_("allocatable millicores"), default=0)
    memory = models.PositiveBigIntegerField(_("allocatable MiB"), default=0)
    cards = models.PositiveIntegerField(_("usable cards"), default=0)
    cards_capacity = models.PositiveIntegerField(_("cards built in"), default=0)
    labels = models.JSONField(_("labels"), default=dict, blank=True)
    taints = models.JSONField(_("taints"), default=list, blank=True)
    ready = models.BooleanField(_("ready"), default=False)
    unschedulable = models.BooleanField(_("cordoned"), default=False)
    seen_at = models.DateTimeField(_("last seen"))
    gone_at = models.DateTimeField(_("gone since"), null=True, blank=True)

    class Meta:
        verbose_name = _("node")
        verbose_name_plural = _("nodes")
        ordering = ("cluster_id", "name")
        constraints = (models.UniqueConstraint(fields=["cluster", "name"], name="one_row_per_cluster_and_node_name"),)

    def __str__(self) -> str:
        return self.name
