"""Clusters and pools in REST's words (rest.md); nothing of credentials is ever among them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

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


class PoolAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.CharField()
    project = serializers.CharField(allow_null=True)
    lend_idle = serializers.BooleanField()

    def to_representation(self, row: Pool) -> dict[str, Any]:
        project = row.project.slug if row.project else None
        return {"name": row.name, "kind": row.kind, "project": project, "lend_idle": row.lend_idle}
