"""The plant with its use, and what would happen to a submission (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller
from apps.accounts.domain.tokens import Scope
from apps.clusters import access
from apps.kernel import clock
from apps.rest.pagination import answer_page
from apps.rest.schema import documented
from apps.scheduling import selectors, services
from apps.scheduling.api.preview import PreviewAnswer, preview_answer
from apps.scheduling.api.serializers import NodeAnswer, ResourcesAnswer, resources_answer
from apps.tasks.api.reading import new_spec
from apps.tasks.api.serializers import TaskSpecShape


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


class PreviewTask(APIView):
    scopes: ClassVar = {"POST": Scope.TASKS_WRITE}

    @documented("preview_task", PreviewAnswer, request=TaskSpecShape)
    def post(self, request: Request) -> Response:
        """The split, the objects and the verdict of a submission now; nothing is stored."""
        spec = new_spec(request)
        return Response(preview_answer(spec, services.preview(spec, by=caller(request), now=clock.now())))
