"""What would happen to a submission, in REST's words (rest.md, preview)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from apps.kernel.quantities import format_cpu, format_memory
from apps.kernel.text import translated
from apps.scheduling.domain.placement import ScoreCard
from apps.scheduling.services import Preview, QuotaChange
from apps.tasks import explanations
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.splitting import Share


class BoundsShape(serializers.Serializer[Any]):
    cpu = serializers.CharField()
    cpu_millicores = serializers.IntegerField()
    memory = serializers.CharField()
    memory_mib = serializers.IntegerField()


class ShareShape(serializers.Serializer[Any]):
    container = serializers.CharField()
    limits = BoundsShape()
    requests = BoundsShape()
    cards = serializers.IntegerField()


class SplitShape(serializers.Serializer[Any]):
    nodes = serializers.IntegerField()
    per_node = ShareShape(many=True)


class ScoreCardShape(serializers.Serializer[Any]):
    cluster = serializers.CharField()
    capable = serializers.BooleanField()
    reachable = serializers.BooleanField()
    present = serializers.BooleanField()
    fits = serializers.BooleanField()
    pool = serializers.CharField(allow_null=True)
    free = serializers.IntegerField()
    queued = serializers.IntegerField()
    chosen = serializers.BooleanField()


class AdmissionShape(serializers.Serializer[Any]):
    """``reason`` is a pending token when it queues, a problem's code when it is refused; then ``fields`` say where."""

    verdict = serializers.CharField()
    reason = serializers.CharField(allow_null=True)
    text = serializers.CharField(allow_blank=True)
    numbers = serializers.DictField()
    fields = serializers.DictField()  # type: ignore[assignment]  # a problem's name; DRF's property is not used here
    cluster = serializers.CharField(allow_null=True)
    pool = serializers.CharField(allow_null=True)
    clusters = ScoreCardShape(many=True)


class QuotaChangeShape(serializers.Serializer[Any]):
    resource = serializers.CharField()
    limit = serializers.IntegerField()
    before = serializers.IntegerField()
    asked = serializers.IntegerField()
    after = serializers.IntegerField()


class PreviewAnswer(serializers.Serializer[Any]):
    split = SplitShape()
    manifests = serializers.ListField(child=serializers.DictField())
    admission = AdmissionShape()
    quota = QuotaChangeShape(many=True)


def preview_answer(spec: TaskSpec, found: Preview) -> dict[str, Any]:
    """The whole answer; nothing of it is stored anywhere."""
    pairs = zip(spec.containers, found.shares, strict=False)
    return {
        "split": {"nodes": found.nodes, "per_node": [_share(container.name, share) for container, share in pairs]},
        "manifests": list(found.manifests),
        "admission": _admission(found),
        "quota": [_quota(change) for change in found.quota],
    }


def _share(name: str, share: Share) -> dict[str, Any]:
    return {
        "container": name,
        "limits": _bounds(share.cpu_limit, share.memory_limit),
        "requests": _bounds(share.cpu_request, share.memory_request),
        "cards": share.cards,
    }


def _bounds(cpu: int, memory: int) -> dict[str, Any]:
    return {"cpu": format_cpu(cpu), "cpu_millicores": cpu, "memory": format_memory(memory), "memory_mib": memory}


def _admission(found: Preview) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "verdict": found.verdict.value,
        "reason": found.reason or None,
        "text": explanations.sentence(found.reason, found.numbers) if found.reason else "",
        "numbers": dict(found.numbers),
        "fields": {},
        "cluster": found.cluster or None,
        "pool": found.pool or None,
        "clusters": [_card(card) for card in found.cards],
    }
    if found.refusal is None:
        return answer
    fields = found.refusal.fields.items()
    return answer | {
        "reason": found.refusal.code.value,
        "text": translated(found.refusal.detail, gettext),
        "numbers": dict(found.refusal.numbers),
        "fields": {path: [translated(message, gettext) for message in messages] for path, messages in fields},
    }


def _card(card: ScoreCard) -> dict[str, Any]:
    names = ("cluster", "capable", "reachable", "present", "fits", "free", "queued", "chosen")
    return {name: getattr(card, name) for name in names} | {"pool": card.pool or None}


def _quota(change: QuotaChange) -> dict[str, Any]:
    return {name: getattr(change, name) for name in ("resource", "limit", "before", "asked", "after")}
