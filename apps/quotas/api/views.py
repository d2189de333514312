"""Quotas with their use, and their limits for administrators (rest.md)."""

from __future__ import annotations

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller, source_of
from apps.accounts.domain.tokens import Scope
from apps.kernel import clock
from apps.quotas import access, selectors, services
from apps.quotas.api.serializers import LimitShape, QuotaAnswer
from apps.rest.pagination import answer_page
from apps.rest.parsing import Body, Parameters
from apps.rest.schema import documented, text_parameter

LARGEST_LIMIT = 10**15
FILTERS = (
    text_parameter("project", "Only this project's, by short name.", many=True),
    text_parameter("user", "Only this person's.", many=True),
)


class Quotas(APIView):
    scopes: ClassVar = {"GET": Scope.QUOTAS_READ}

    @documented("list_quotas", QuotaAnswer, parameters=FILTERS, paged=True)
    def get(self, request: Request) -> Response:
        """Your own quotas and those of your projects, with use and holders."""
        given = Parameters(request)
        projects, people = given.texts("project"), given.texts("user")
        given.done()
        rows = selectors.of_scopes(access.visible_quotas(caller(request)), projects=projects, people=people)
        return answer_page(request, rows, QuotaAnswer, orders={"resource": "resource"}, default="resource")


class OneQuota(APIView):
    scopes: ClassVar = {"PATCH": Scope.QUOTAS_WRITE}

    @documented("set_quota", QuotaAnswer, request=LimitShape)
    def patch(self, request: Request, pk: int) -> Response:
        """Change a limit; below what is in use stops nobody. For administrators."""
        person, body = caller(request), Body(request.data)
        quota = access.quota_to_change(person, pk)
        limit = body.whole("limit", low=0, high=LARGEST_LIMIT)
        body.done()
        quota = services.set_limit(quota, limit, by=person, now=clock.now(), source=source_of(request))
        return Response(QuotaAnswer(quota).data)
