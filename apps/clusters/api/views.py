"""Clusters and pools (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller
from apps.accounts.domain.tokens import Scope
from apps.clusters import access
from apps.clusters.api.serializers import ClusterAnswer, PoolAnswer
from apps.rest.pagination import answer_page
from apps.rest.schema import documented


class Clusters(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("list_clusters", ClusterAnswer, paged=True)
    def get(self, request: Request) -> Response:
        """Every cluster and whether it answers."""
        rows = access.visible_clusters(caller(request))
        return answer_page(request, rows, ClusterAnswer, orders={"name": "name"}, default="name")


class Pools(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("list_pools", PoolAnswer, paged=True)
    def get(self, request: Request) -> Response:
        """The public pools and those of your projects."""
        rows = access.visible_pools(caller(request))
        return answer_page(request, rows, PoolAnswer, orders={"name": "name"}, default="name")
