"""What belongs to a task: instances, revisions and their differences, events, attempts (rest.md)."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller
from apps.accounts.domain.tokens import Scope
from apps.rest.pagination import answer_page
from apps.rest.parsing import Parameters
from apps.rest.schema import documented, text_parameter
from apps.tasks import access, selectors
from apps.tasks.api.serializers import (
    AttemptAnswer,
    DiffAnswer,
    DifferenceAnswer,
    EventAnswer,
    InstanceAnswer,
    RevisionAnswer,
)
from apps.tasks.domain import spec as specs
from apps.tasks.domain.immutability import diff

HIGHEST = 2**31 - 1
ATTEMPT = text_parameter("attempt", "The attempt's number; the present one where it is left out.", of=int)
AGAINST = text_parameter("against", "The other revision's number; the one before where it is left out.", of=int)


class Reading(APIView):
    scopes: ClassVar = {"GET": Scope.TASKS_READ}


class Instances(Reading):
    @documented("list_instances", InstanceAnswer, parameters=(ATTEMPT,), paged=True)
    def get(self, request: Request, pk: UUID) -> Response:
        """The pods of one attempt, those seen first at the top."""
        task, given = access.task_for(caller(request), pk), Parameters(request)
        attempt = given.whole("attempt", task.attempt, low=1, high=HIGHEST)
        given.done()
        return answer_page(
            request,
            selectors.instances(task, attempt=attempt),
            InstanceAnswer,
            orders={"first_seen_at": "first_seen_at"},
            default="first_seen_at",
        )


class Revisions(Reading):
    @documented("list_revisions", RevisionAnswer, paged=True)
    def get(self, request: Request, pk: UUID) -> Response:
        """The task's numbered shapes, the newest first."""
        return answer_page(
            request,
            selectors.revisions(access.task_for(caller(request), pk)),
            RevisionAnswer,
            orders={"number": "number"},
            default="-number",
        )


class RevisionDiff(Reading):
    @documented("diff_revisions", DiffAnswer, parameters=(AGAINST,))
    def get(self, request: Request, pk: UUID, number: int) -> Response:
        """What changed in a revision, field by field, against an earlier one."""
        task, given = access.task_for(caller(request), pk), Parameters(request)
        against = given.whole("against", max(1, number - 1), low=1, high=HIGHEST)
        given.done()
        new, old = (selectors.revision(task, wanted) for wanted in (number, against))
        if new is None or old is None:
            raise Http404
        rows = diff(specs.from_json(old.spec), specs.from_json(new.spec))
        changes = DifferenceAnswer(rows, many=True).data
        return Response({"revision": number, "against": against, "changes": changes})


class Events(Reading):
    @documented("list_events", EventAnswer, paged=True)
    def get(self, request: Request, pk: UUID) -> Response:
        """What happened, the newest first: decisions, the cluster's events and people's actions."""
        return answer_page(
            request,
            selectors.events(access.task_for(caller(request), pk)),
            EventAnswer,
            orders={"at": "at"},
            default="-at",
        )


class Attempts(Reading):
    @documented("list_attempts", AttemptAnswer, paged=True)
    def get(self, request: Request, pk: UUID) -> Response:
        """The task's lives on clusters, the newest first."""
        return answer_page(
            request,
            selectors.attempts(access.task_for(caller(request), pk)),
            AttemptAnswer,
            orders={"number": "number"},
            default="-number",
        )
