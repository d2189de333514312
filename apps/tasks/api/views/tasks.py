"""Submit, list, read, change and delete tasks (rest.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller, source_of
from apps.accounts.domain.tokens import Scope
from apps.kernel import clock
from apps.organisations.domain.roles import Action
from apps.rest.idempotency import once
from apps.rest.pagination import answer_page
from apps.rest.schema import IDEMPOTENCY_KEY, IF_MATCH, documented
from apps.rest.versions import etag
from apps.tasks import access, selectors
from apps.tasks.api import reading
from apps.tasks.api.serializers import TaskAnswer, TaskSpecShape, task_address
from apps.tasks.services import changes, lifecycle, submission

if TYPE_CHECKING:
    from apps.tasks.models import Task


def task_answer(task: Task, *, status: int = 200) -> Response:
    """One task with its version as ETag; 201 tells where it stands."""
    headers = {"ETag": etag(task.version)} | ({"Location": task_address(task)} if status == 201 else {})
    return Response(TaskAnswer(selectors.placed(task)).data, status=status, headers=headers)


class Tasks(APIView):
    scopes: ClassVar = {"GET": Scope.TASKS_READ, "POST": Scope.TASKS_WRITE}

    @documented("list_tasks", TaskAnswer, parameters=reading.FILTERS, paged=True)
    def get(self, request: Request) -> Response:
        """The tasks that you may read, the newest first."""
        tasks = selectors.filtered(access.visible_tasks(caller(request)), reading.task_filter(request))
        rows = selectors.with_place(tasks)
        return answer_page(request, rows, TaskAnswer, orders=reading.ORDERS, default="-created_at")

    @documented("submit_task", TaskAnswer, status=201, request=TaskSpecShape, parameters=(IDEMPOTENCY_KEY,))
    def post(self, request: Request) -> Response:
        """Submit a task: it is checked, its quota is held, and it waits for admission."""
        person, spec, now = caller(request), reading.new_spec(request), clock.now()
        access.project_for_submission(person, spec.project)

        def submit() -> Response:
            task = submission.submit_task(spec, by=person, now=now, source=source_of(request))
            return task_answer(task, status=201)

        return once(request, submit, now=now)


class OneTask(APIView):
    scopes: ClassVar = {
        "GET": Scope.TASKS_READ,
        "PATCH": Scope.TASKS_WRITE,
        "PUT": Scope.TASKS_WRITE,
        "DELETE": Scope.TASKS_WRITE,
    }

    @documented("read_task", TaskAnswer)
    def get(self, request: Request, pk: UUID) -> Response:
        """One task: its spec and what became of it."""
        return task_answer(access.task_for(caller(request), pk))

    @documented("change_task", TaskAnswer, request=TaskSpecShape, parameters=(IF_MATCH,))
    def patch(self, request: Request, pk: UUID) -> Response:
        """Change parts of the spec; whatever the kind forbids is refused, and then nothing changes."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        seen, spec = reading.version_for_edit(task, request), reading.patched_spec(task, request)
        changes.edit_task(task, spec, expected_version=seen, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task)

    @documented("replace_task", TaskAnswer, request=TaskSpecShape, parameters=(IF_MATCH,))
    def put(self, request: Request, pk: UUID) -> Response:
        """Give the whole spec; an unchanged one answers 200 and changes nothing."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        seen, spec = reading.version_for_edit(task, request), reading.replaced_spec(task, request)
        changes.edit_task(task, spec, expected_version=seen, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task)

    @documented("delete_task", TaskAnswer, status=202)
    def delete(self, request: Request, pk: UUID) -> Response:
        """Take the task from the lists and its objects from the cluster; its history stays."""
        person = caller(request)
        task = access.task_for(person, pk, to=Action.ACT_ON_TASKS)
        lifecycle.delete_task(task, by=person, now=clock.now(), source=source_of(request))
        return task_answer(task, status=202)
