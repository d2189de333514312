"""Tasks and what belongs to them in REST's words (rest.md). Reading a spec is ``tasks.domain.wire``'s work."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from apps.tasks import explanations
from apps.tasks.domain import spec as specs
from apps.tasks.domain.immutability import Difference
from apps.tasks.domain.spec import KindName, OnPreemption, Priority, TaskSpec
from apps.tasks.domain.states import State
from apps.tasks.domain.wire import to_wire
from apps.tasks.models import Attempt, Event, EventSource, Instance, Revision, Task


def words(enum: Any) -> list[str]:
    return [word.value for word in enum]


class PortShape(serializers.Serializer[Any]):
    port = serializers.IntegerField(min_value=1, max_value=65_535)
    name = serializers.CharField(required=False, allow_blank=True)


class ContainerShape(serializers.Serializer[Any]):
    """A container of a spec; ``cpu`` and ``memory`` are weights, or limits in a CPU-only task."""

    name = serializers.CharField()
    image = serializers.CharField()
    command = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    args = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    env = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    cpu = serializers.CharField(allow_null=True, required=False)
    memory = serializers.CharField(allow_null=True, required=False)
    cards = serializers.IntegerField(allow_null=True, required=False, min_value=0)
    ports = PortShape(many=True, required=False)
    cpu_millicores = serializers.IntegerField(allow_null=True, read_only=True)
    memory_mib = serializers.IntegerField(allow_null=True, read_only=True)


class ResourcesShape(serializers.Serializer[Any]):
    mark = serializers.CharField(allow_null=True, required=False)
    cards_per_node = serializers.IntegerField(required=False, min_value=0)
    nodes = serializers.IntegerField(required=False, min_value=0)


class DatasetShape(serializers.Serializer[Any]):
    claim = serializers.CharField()
    mount_path = serializers.CharField()
    read_only = serializers.BooleanField(required=False)  # type: ignore[assignment]  # the name is rest.md's; no field option here


class TaskSpecShape(serializers.Serializer[Any]):
    """What a user submits."""

    kind = serializers.ChoiceField(words(KindName))
    display_name = serializers.CharField(max_length=63)
    project = serializers.CharField(allow_null=True, required=False)
    priority = serializers.ChoiceField(words(Priority), required=False)
    resources = ResourcesShape(required=False)
    containers = ContainerShape(many=True)
    shm = serializers.CharField(allow_null=True, required=False)
    datasets = DatasetShape(many=True, required=False)
    pending_timeout = serializers.CharField(required=False)
    max_runtime = serializers.CharField(allow_null=True, required=False)
    backoff_limit = serializers.IntegerField(required=False, min_value=0)
    min_available = serializers.IntegerField(allow_null=True, required=False)
    pre_stop_seconds = serializers.IntegerField(allow_null=True, required=False)
    on_preemption = serializers.ChoiceField(words(OnPreemption), required=False)
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    advanced = serializers.DictField(required=False)


class ReasonShape(serializers.Serializer[Any]):
    token = serializers.CharField()
    text = serializers.CharField()
    numbers = serializers.DictField()
    since = serializers.DateTimeField(allow_null=True)


class EstimateShape(serializers.Serializer[Any]):
    p50 = serializers.DateTimeField()
    p90 = serializers.DateTimeField()


class TaskAnswer(TaskSpecShape):
    """A task: its spec and what became of it. Lists annotate ``cluster_name`` and ``pool_name``."""

    id = serializers.UUIDField()
    object_name = serializers.CharField()
    state = serializers.ChoiceField(words(State))
    reason = ReasonShape(allow_null=True)
    position = serializers.IntegerField(allow_null=True)
    estimated_start = EstimateShape(allow_null=True)
    attempt = serializers.IntegerField()
    revision = serializers.IntegerField()
    cluster = serializers.CharField(allow_null=True)
    pool = serializers.CharField(allow_null=True)
    nodes_ready = serializers.IntegerField()
    version = serializers.IntegerField()
    owner = serializers.CharField()
    shm_mib = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    links = serializers.DictField(child=serializers.CharField())

    def to_representation(self, task: Task) -> dict[str, Any]:
        numbers = task.reason_numbers or {}
        return spec_answer(specs.from_json(task.spec)) | {
            "id": str(task.pk),
            "object_name": task.object_name,
            "state": task.state,
            "reason": _reason(task),
            "position": numbers.get("position"),
            "estimated_start": None,
            "attempt": task.attempt,
            "revision": task.revision,
            "cluster": getattr(task, "cluster_name", None),
            "pool": getattr(task, "pool_name", None),
            "nodes_ready": task.nodes_ready,
            "version": task.version,
            "owner": task.owner.username,
            "created_at": task.created_at,
            "started_at": task.started_at,
            "finished_at": task.finished_at,
            "links": _links(task),
        }


READ_ONLY = frozenset(TaskAnswer._declared_fields) - frozenset(TaskSpecShape._declared_fields)  # noqa: SLF001 - DRF has no public name for a class's fields
"""Names that stand in answers only; a whole task sent back (PUT) may carry them."""


def spec_answer(spec: TaskSpec) -> dict[str, Any]:
    """The spec in wire form, with the exact integers beside each quantity (rest.md)."""
    answer = to_wire(spec)
    for written, container in zip(answer["containers"], spec.containers, strict=True):
        written |= {"cpu_millicores": container.cpu, "memory_mib": container.memory}
    return answer | {"shm_mib": spec.shm}


def _reason(task: Task) -> dict[str, Any] | None:
    if not task.reason:
        return None
    text = explanations.sentence(task.reason, task.reason_numbers)
    return {"token": task.reason, "text": text, "numbers": task.reason_numbers, "since": task.reason_since}


def task_address(task: Task) -> str:
    return f"{reverse('api-tasks')}/{task.pk}"


def _links(task: Task) -> dict[str, str]:
    own = task_address(task)
    parts = ("instances", "revisions", "events", "attempts", "logs")
    return {"self": own} | {part: f"{own}/{part}" for part in parts}


class ContainerStatusShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    state = serializers.CharField()
    restarts = serializers.IntegerField()
    exit_code = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class InstanceAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    uid = serializers.CharField()
    state = serializers.CharField()
    node = serializers.CharField(allow_blank=True)
    restarts = serializers.IntegerField()
    exit_code = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField(allow_null=True)
    gone_at = serializers.DateTimeField(allow_null=True)
    containers = ContainerStatusShape(many=True)

    def to_representation(self, row: Instance) -> dict[str, Any]:
        names = ("name", "uid", "node", "restarts", "exit_code", "reason", "started_at", "gone_at")
        containers = row.shown_containers
        told = explanations.instance_sentence(row.reason, containers, row.message)
        seen = {"state": row.shown_state, "containers": containers, "message": told}
        return {name: getattr(row, name) for name in names} | seen


class RevisionAnswer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    author = serializers.CharField()
    created_at = serializers.DateTimeField()
    rolled_back_to = serializers.IntegerField(allow_null=True)
    spec = TaskSpecShape()

    def to_representation(self, row: Revision) -> dict[str, Any]:
        return {
            "number": row.number,
            "author": row.author.username,
            "created_at": row.created_at,
            "rolled_back_to": row.rolled_back_to,
            "spec": spec_answer(specs.from_json(row.spec)),
        }


class DifferenceAnswer(serializers.Serializer[Any]):
    path = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)

    def to_representation(self, row: Difference) -> dict[str, Any]:
        return {"path": row.path, "before": row.before, "after": row.after}


class DiffAnswer(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    against = serializers.IntegerField()
    changes = DifferenceAnswer(many=True)


class EventAnswer(serializers.Serializer[Any]):
    """What happened; ``text`` is the cluster's own words, or the sentence made from token and numbers."""

    at = serializers.DateTimeField()
    attempt = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]  # the name is rest.md's; no field option here
    token = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    numbers = serializers.DictField()
    warning = serializers.BooleanField()
    actor = serializers.CharField(allow_null=True)
    seq = serializers.IntegerField()

    def to_representation(self, row: Event) -> dict[str, Any]:
        names = ("at", "attempt", "source", "token", "numbers", "warning", "seq")
        by_cluster = row.source == EventSource.CLUSTER
        return {name: getattr(row, name) for name in names} | {
            "text": explanations.event_sentence(row.token, row.numbers, row.text, by_cluster=by_cluster),
            "actor": row.actor.username if row.actor else None,
        }


class AttemptAnswer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    object_name = serializers.CharField()
    namespace = serializers.CharField(allow_blank=True)
    cluster = serializers.CharField(allow_null=True)
    pool = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    admitted_at = serializers.DateTimeField(allow_null=True)
    running_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_blank=True)

    def to_representation(self, row: Attempt) -> dict[str, Any]:
        times = ("created_at", "admitted_at", "running_at", "finished_at")
        return {name: getattr(row, name) for name in ("number", "object_name", "namespace", *times, "outcome")} | {
            "cluster": row.cluster.name if row.cluster else None,
            "pool": row.pool.name if row.pool else None,
        }


class ScaleShape(serializers.Serializer[Any]):
    nodes = serializers.IntegerField(min_value=0)


class RollbackShape(serializers.Serializer[Any]):
    revision = serializers.IntegerField(min_value=1)


class CloneShape(serializers.Serializer[Any]):
    changes = serializers.DictField(required=False)
