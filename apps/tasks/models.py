"""Tasks, their revisions, attempts, containers, instances and events (domain.md §1)."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.clusters.models import Cluster, Pool
from apps.organisations.models import Project
from apps.tasks.domain.spec import KindName, Priority
from apps.tasks.domain.states import FINAL, Intent, State


def _choices(words: type[KindName] | type[Priority] | type[State] | type[Intent]) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]


_FINAL = sorted(state.value for state in FINAL)  # sorted: a set's order would make migrations differ by run


class Task(models.Model):
    """What a user submitted, its wanted spec and its present state.

    ``version`` rises with each change of the spec (ETag); ``seq`` with each change a browser should hear of.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(_("kind"), max_length=20, choices=_choices(KindName))
    display_name = models.CharField(_("name"), max_length=63)
    object_name = models.CharField(_("name on the cluster"), max_length=40, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="tasks")
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="tasks")
    priority = models.CharField(_("priority"), max_length=10, choices=_choices(Priority))
    mark = models.CharField(_("mark"), max_length=40, blank=True)
    cards = models.PositiveIntegerField(_("cards in all"), default=0)
    nodes = models.PositiveIntegerField(_("instances"), default=1)
    spec = models.JSONField(_("spec"))
    revision = models.PositiveIntegerField(_("revision"), default=1)
    version = models.PositiveIntegerField(_("version"), default=1)
    seq = models.PositiveBigIntegerField(default=0)
    intent = models.CharField(_("intent"), max_length=10, choices=_choices(Intent), default=Intent.RUN)
    state = models.CharField(_("state"), max_length=12, choices=_choices(State), default=State.QUEUED)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    reason_numbers = models.JSONField(default=dict, blank=True)
    reason_since = models.DateTimeField(null=True, blank=True)
    nodes_ready = models.PositiveIntegerField(_("instances ready"), default=0)
    attempt = models.PositiveIntegerField(_("attempt"), default=1)
    restart_count = models.PositiveIntegerField(_("rollout restarts"), default=0)
    created_at = models.DateTimeField(_("created"))
    queued_at = models.DateTimeField(_("queued"))
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True)

    class Meta:
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        ordering = ("-created_at", "-id")
        constraints = (
            models.CheckConstraint(
                condition=Q(display_name__regex=r"^[a-z][a-zA-Z0-9-]*$"), name="task_display_name_valid"
            ),
            models.CheckConstraint(
                condition=Q(object_name__regex=r"^[a-z]([-a-z0-9]*[a-z0-9])?$"), name="task_object_name_is_dns_label"
            ),
            models.CheckConstraint(condition=Q(state__in=[state.value for state in State]), name="task_state_known"),
            models.CheckConstraint(
                condition=Q(intent__in=[intent.value for intent in Intent]), name="task_intent_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=_FINAL, finished_at__isnull=False)
                | (~Q(state__in=_FINAL) & Q(finished_at__isnull=True)),
                name="task_finished_exactly_in_final_states",
            ),
            models.CheckConstraint(
                condition=~Q(priority=Priority.HIGH) | Q(project__isnull=False), name="task_high_needs_a_project"
            ),
            models.UniqueConstraint(
                fields=["project", "display_name"],
                condition=Q(deleted_at=None) & ~Q(state__in=_FINAL) & Q(project__isnull=False),
                name="one_live_task_per_project_and_name",
            ),
            models.UniqueConstraint(
                fields=["owner", "display_name"],
                condition=Q(deleted_at=None, project=None) & ~Q(state__in=_FINAL),
                name="one_live_task_per_user_and_name",
            ),
        )
        indexes = (
            models.Index(fields=["project", "-created_at"], name="task_by_project"),
            models.Index(fields=["owner", "-created_at"], name="task_by_owner"),
            models.Index(fields=["state", "queued_at"], name="task_by_state"),
            models.Index(fields=["-created_at", "-id"], name="task_newest"),
        )

    def __str__(self) -> str:
        return self.display_name


class Revision(models.Model):
    """One numbered shape of a task; a Job has one, a Deployment one per change."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    spec = models.JSONField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    rolled_back_to = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("-number",)
        constraints = (models.UniqueConstraint(fields=["task", "number"], name="one_revision_per_task_and_number"),)


class Container(models.Model):
    """One container of a revision with its share of the machine: limits in millicores and MiB (domain.md §4)."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="containers")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=63)
    image = models.CharField(max_length=500)
    cpu_limit = models.PositiveBigIntegerField()
    memory_limit = models.PositiveBigIntegerField()
    cards = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=["revision", "name"], name="one_container_per_revision_and_name"),
            models.CheckConstraint(condition=Q(cpu_limit__gte=1, memory_limit__gte=1), name="container_gets_something"),
        )


class Attempt(models.Model):
    """One life of a Task on a cluster. ``workload`` and ``workload_uid`` are the main object as last seen there."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    object_name = models.CharField(max_length=63, unique=True)
    namespace = models.CharField(max_length=63, blank=True)
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.PROTECT, related_name="attempts")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="attempts")
    planned_nodes = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    admitted_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)
    applied_revision = models.PositiveIntegerField(default=0)
    running_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, blank=True)
    workload = models.JSONField(default=dict)
    workload_uid = models.CharField(max_length=64, blank=True)
    lock_token = models.UUIDField(null=True)
    lock_expires_at = models.DateTimeField(null=True)
    next_try_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=["task", "number"], name="one_attempt_per_task_and_number"),
            models.CheckConstraint(
                condition=Q(admitted_at__isnull=True, cluster__isnull=True, pool__isnull=True)
                | Q(admitted_at__isnull=False, cluster__isnull=False, pool__isnull=False),
                name="attempt_admitted_to_a_cluster_and_pool",
            ),
        )
        indexes = (
            models.Index(fields=["cluster", "object_name"], name="attempt_by_cluster"),
            models.Index(
                fields=["id"], condition=Q(admitted_at__isnull=False, removed_at=None), name="attempt_on_a_cluster"
            ),
        )


PODS_ENDED = frozenset({"succeeded", "failed", "init_failed", "evicted", "preempted", "lost"})


class Instance(models.Model):
    """One pod of an attempt as last seen; ``observed`` is its metadata, node and status as the cluster told them."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="instances")
    uid = models.CharField(max_length=64)
    name = models.CharField(max_length=253)
    node = models.CharField(max_length=253, blank=True)
    state = models.CharField(max_length=20)
    reason = models.CharField(max_length=60, blank=True)
    message = models.CharField(max_length=1000, blank=True)
    restarts = models.PositiveIntegerField(default=0)
    exit_code = models.IntegerField(null=True)
    containers = models.JSONField(default=list)
    observed = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    first_seen_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ("first_seen_at", "name")
        constraints = (models.UniqueConstraint(fields=["attempt", "uid"], name="one_instance_per_attempt_and_pod"),)
        indexes = (models.Index(fields=["attempt"], condition=Q(gone_at=None), name="instance_present"),)

    @property
    def shown_state(self) -> str:
        """The state for readers: a pod that went before its end was seen is ``gone``, and runs no more."""
        return "gone" if self.gone_at is not None and self.state not in PODS_ENDED else self.state

    @property
    def shown_containers(self) -> list[dict[str, object]]:
        """The containers for readers: none of a pod that is gone still runs or waits."""
        if self.gone_at is None:
            return list(self.containers)
        return [row if row.get("state") == "terminated" else {**row, "state": "gone"} for row in self.containers]


class EventSource(models.TextChoices):
    PLATFORM = "platform", _("platform")
    CLUSTER = "cluster", _("cluster")
    PERSON = "person", _("person")


class Event(models.Model):
    """What happened to a task, in order: platform decisions, cluster events and people's actions interleaved."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="events")
    attempt = models.PositiveIntegerField()
    at = models.DateTimeField()
    source = models.CharField(max_length=10, choices=EventSource.choices)
    token = models.CharField(max_length=60)
    numbers = models.JSONField(default=dict)
    text = models.CharField(max_length=2000, blank=True)
    warning = models.BooleanField(default=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    external_id = models.CharField(max_length=120, null=True)
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ("at", "id")
        constraints = (models.UniqueConstraint(fields=["task", "external_id"], name="one_row_per_cluster_event"),)
        indexes = (models.Index(fields=["task", "at"], name="event_by_task"),)
