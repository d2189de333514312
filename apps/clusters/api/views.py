"""Clusters and pools (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller, source_of
from apps.accounts.domain.tokens import Scope
from apps.clusters import access, services
from apps.clusters.api import reading
from apps.clusters.api.serializers import (
    ClusterAnswer,
    CredentialsShape,
    NewClusterShape,
    OneClusterAnswer,
    PoolAnswer,
)
from apps.kernel import clock
from apps.rest.idempotency import answered, once
from apps.rest.pagination import answer_page
from apps.rest.schema import IDEMPOTENCY_KEY, documented


class Clusters(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ, "POST": Scope.CLUSTERS_WRITE}

    @documented("list_clusters", ClusterAnswer, paged=True)
    def get(self, request: Request) -> Response:
        """Every cluster and whether it answers."""
        rows = access.visible_clusters(caller(request))
        return answer_page(request, rows, ClusterAnswer, orders={"name": "name"}, default="name")

    @documented("add_cluster", OneClusterAnswer, status=201, request=NewClusterShape, parameters=[IDEMPOTENCY_KEY])
    def post(self, request: Request) -> Response:
        """Add a cluster after asking it everything; refused with ``checks`` where tasks could not run."""
        person, now = caller(request), clock.now()
        access.check_may_manage(person)
        kept = answered(request, now=now)
        if kept is not None:
            return kept
        draft, anyway = reading.new_cluster(request, now=now)
        # The cluster is asked before the transaction begins, in which nothing may wait for anybody.
        checks = services.look_over(draft, now=now)
        services.accept(checks, anyway=anyway)

        def add() -> Response:
            cluster = services.add_examined(draft, checks, by=person, now=now, source=source_of(request))
            place = {"Location": reverse("api-cluster", args=(cluster.name,))}
            return Response(OneClusterAnswer(cluster).data, status=201, headers=place)

        return once(request, add, now=now)


class OneCluster(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("read_cluster", OneClusterAnswer)
    def get(self, request: Request, name: str) -> Response:
        """One cluster with its check list."""
        return Response(OneClusterAnswer(access.cluster_for(caller(request), name)).data)


class Credentials(APIView):
    scopes: ClassVar = {"PUT": Scope.CLUSTERS_WRITE}

    @documented("rotate_cluster_credentials", OneClusterAnswer, request=CredentialsShape)
    def put(self, request: Request, name: str) -> Response:
        """Sign in differently from now on, after trying it; nothing is restarted. For administrators."""
        person, now = caller(request), clock.now()
        cluster = access.cluster_to_manage(person, name)
        sign_in, anyway = reading.new_credentials(request, now=now)
        checks = services.examine(sign_in, now=now, cluster=cluster)
        services.accept(checks, anyway=anyway)
        services.rotate_examined(cluster, sign_in, checks, by=person, now=now, source=source_of(request))
        return Response(OneClusterAnswer(cluster).data)


class Check(APIView):
    scopes: ClassVar = {"POST": Scope.CLUSTERS_WRITE}

    @documented("check_cluster", OneClusterAnswer)
    def post(self, request: Request, name: str) -> Response:
        """Ask the cluster everything now, and answer with its check list. For administrators."""
        person = caller(request)
        services.check(access.cluster_to_manage(person, name), now=clock.now(), full=True)
        return Response(OneClusterAnswer(access.cluster_for(person, name)).data)


class Pools(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("list_pools", PoolAnswer, paged=True)
    def get(self, request: Request) -> Response:
        """The public pools and those of your projects."""
        rows = access.visible_pools(caller(request))
        return answer_page(request, rows, PoolAnswer, orders={"name": "name"}, default="name")
