"""The plant with its use: nodes and kinds of card (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller
from apps.accounts.domain.tokens import Scope
from apps.clusters import access
from apps.rest.pagination import answer_page
from apps.rest.schema import documented
from apps.scheduling import selectors
from apps.scheduling.api.serializers import NodeAnswer, ResourcesAnswer, resources_answer


class Nodes(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("list_nodes", NodeAnswer, paged=True)
    def get(self, request: Request, name: str) -> Response:
        """The cluster's machines with what is taken and free of each."""
        person = caller(request)
        cluster = access.cluster_for(person, name)
        facts = {node.name: node for node in selectors.plant().nodes if node.cluster_id == cluster.pk}
        return answer_page(
            request,
            access.visible_nodes(person, cluster),
            NodeAnswer,
            orders={"name": "name"},
            default="name",
            context={"facts": facts, "pools": access.visible_pool_ids(person)},
        )


class Resources(APIView):
    scopes: ClassVar = {"GET": Scope.CLUSTERS_READ}

    @documented("list_resources", ResourcesAnswer)
    def get(self, request: Request) -> Response:
        """Every kind of card with what is free of it, and the largest free CPU node."""
        pools = access.visible_pool_ids(caller(request))
        return Response(resources_answer(selectors.plant(), pools))
