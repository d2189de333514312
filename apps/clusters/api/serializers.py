"""Clusters and pools in REST's words (rest.md); nothing of credentials is ever among them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.clusters.domain.checklist_rows import State, from_wire
from apps.clusters.explanations import described
from apps.clusters.models import Cluster, Pool


class ClusterAnswer(serializers.Serializer[Any]):
    """``reachable`` is what the observer found last, ``last_contact_at`` when the cluster last answered."""

    name = serializers.CharField()
    version = serializers.CharField(allow_blank=True)
    enabled = serializers.BooleanField()
    reachable = serializers.BooleanField()
    last_contact_at = serializers.DateTimeField(allow_null=True)
    unreachable_since = serializers.DateTimeField(allow_null=True)
    capabilities = serializers.ListField(child=serializers.CharField())

    def to_representation(self, row: Cluster) -> dict[str, Any]:
        names = ("name", "version", "enabled", "last_contact_at", "unreachable_since", "capabilities")
        return {name: getattr(row, name) for name in names} | {"reachable": row.unreachable_since is None}


class CheckShape(serializers.Serializer[Any]):
    """One row of the check list; ``fix`` and ``command`` are empty where there is nothing to do."""

    name = serializers.CharField()
    state = serializers.ChoiceField([state.value for state in State])
    token = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    fix = serializers.CharField(allow_blank=True)
    command = serializers.CharField(allow_blank=True)
    numbers = serializers.DictField()


class OneClusterAnswer(ClusterAnswer):
    """``checks`` as of ``checked_at``; null when the cluster has not been asked yet."""

    namespace_prefix = serializers.CharField()
    checked_at = serializers.DateTimeField(allow_null=True)
    checks = CheckShape(many=True)

    def to_representation(self, row: Cluster) -> dict[str, Any]:
        more = {"namespace_prefix": row.namespace_prefix, "checked_at": row.checked_at}
        return super().to_representation(row) | more | {"checks": described(from_wire(row.checks))}


class CredentialsShape(serializers.Serializer[Any]):
    """Either ``kubeconfig`` (and the ``context`` in it), or ``server`` with ``token`` and perhaps ``ca``."""

    kubeconfig = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=256 * 1024)
    context = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=200)  # type: ignore[assignment]  # kubectl's word; DRF's property of that name is not used for a shape that only documents
    server = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=300)
    token = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=8000)
    ca = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=100_000)
    verify = serializers.BooleanField(required=False, allow_null=True)
    anyway = serializers.BooleanField(required=False, allow_null=True)


class NewClusterShape(CredentialsShape):
    name = serializers.CharField(max_length=40)
    namespace_prefix = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=20)
    profile = serializers.DictField(required=False, allow_null=True)


class PoolAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.CharField()
    project = serializers.CharField(allow_null=True)
    lend_idle = serializers.BooleanField()

    def to_representation(self, row: Pool) -> dict[str, Any]:
        project = row.project.slug if row.project else None
        return {"name": row.name, "kind": row.kind, "project": project, "lend_idle": row.lend_idle}
