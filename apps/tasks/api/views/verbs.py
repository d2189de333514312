"""What a person may do to a task after creation, each verb a call (rest.md)."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller, source_of
from apps.accounts.domain.tokens import Scope
from apps.kernel import clock
from apps.organisations.domain.roles import Action
from apps.rest.idempotency import once
from apps.rest.parsing import Body
from apps.rest.schema import IDEMPOTENCY_KEY, IF_MATCH, documented
from apps.tasks import access
from apps.tasks.api import reading
from apps.tasks.api.serializers import CloneShape, RollbackShape, ScaleShape, TaskAnswer
from apps.tasks.api.views.tasks import task_answer
from apps.tasks.services import changes, lifecycle, submission

MOST_NODES = 10_000
MOST_REVISIONS = 1_000_000


class Acting(APIView):
    scopes: ClassVar = {"POST": Scope.TASKS_WRITE}


class Pause(Acting):
    @documented("pause_task", TaskAnswer, status=202)
    def post(self, request: Request, pk: UUID) -> Response:
        """Pause; pausing twice is harmless."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        reading.nothing(request)
        lifecycle.pause_task(task, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)


class Resume(Acting):
    @documented("resume_task", TaskAnswer, status=202)
    def post(self, request: Request, pk: UUID) -> Response:
        """Back into the queue, holding quota anew."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        reading.nothing(request)
        lifecycle.resume_task(task, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)


class Restart(Acting):
    @documented("restart_task", TaskAnswer, status=202)
    def post(self, request: Request, pk: UUID) -> Response:
        """A new attempt, or a rollout over the running instances, as the kind has it."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        reading.nothing(request)
        lifecycle.restart_task(task, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)


class Stop(Acting):
    @documented("stop_task", TaskAnswer, status=202)
    def post(self, request: Request, pk: UUID) -> Response:
        """Stop for good; quota is held until the instances are seen gone."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        reading.nothing(request)
        lifecycle.stop_task(task, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)


class Scale(Acting):
    @documented("scale_task", TaskAnswer, status=202, request=ScaleShape, parameters=(IF_MATCH,))
    def post(self, request: Request, pk: UUID) -> Response:
        """Change how many instances run, and nothing else."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        seen, body = reading.version_for_verb(task, request), Body(request.data)
        nodes = body.whole("nodes", low=0, high=MOST_NODES)
        body.done()
        changes.scale_task(task, nodes, expected_version=seen, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)


class Rollback(Acting):
    @documented("roll_back_task", TaskAnswer, status=202, request=RollbackShape, parameters=(IF_MATCH,))
    def post(self, request: Request, pk: UUID) -> Response:
        """Make an earlier revision's shape the newest one."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        seen, body = reading.version_for_verb(task, request), Body(request.data)
        revision = body.whole("revision", low=1, high=MOST_REVISIONS)
        body.done()
        changes.rollback_task(
            task, revision, expected_version=seen, by=person, now=clock.now(), source=source_of(request)
        )
        return task_answer(task, status=202)


class Clone(Acting):
    @documented("clone_task", TaskAnswer, status=201, request=CloneShape, parameters=(IDEMPOTENCY_KEY,))
    def post(self, request: Request, pk: UUID) -> Response:
        """Submit the task's spec anew with changes; whoever may read a task may clone it where they may submit."""
        person, now, body = caller(request), clock.now(), Body(request.data)
        task = access.task_for(person, pk)
        wanted = body.object("changes")
        body.done()
        spec = changes.clone_spec(task, wanted)
        access.project_for_submission(person, spec.project)

        def submit() -> Response:
            new = submission.submit_task(spec, by=person, now=now, source=source_of(request), clone_of=task)
            return task_answer(new, status=201)

        return once(request, submit, now=now)
