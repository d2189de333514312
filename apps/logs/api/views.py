"""A task's lines: pages as JSON, a stream, or the whole log as text (rest.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar
from uuid import UUID

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.authentication import caller
from apps.accounts.domain.tokens import Scope
from apps.logs import access, selectors
from apps.logs.api import streams
from apps.logs.api.reading import PARAMETERS, asked
from apps.logs.api.serializers import LinesAnswer, LineStream, PlainText
from apps.logs.domain.lines import START
from apps.rest.schema import documented


class Logs(APIView):
    scopes: ClassVar = {"GET": Scope.LOGS_READ}
    renderer_classes = (JSONRenderer, LineStream, PlainText)

    @documented("read_logs", LinesAnswer, parameters=PARAMETERS, also=(LineStream.media_type, PlainText.media_type))
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        """Lines of every instance in order; still there when the pods are gone."""
        person = caller(request)
        task, wanted = access.task_of_lines(person, pk), asked(request)
        media = request.accepted_renderer.media_type
        if wanted.download or media == PlainText.media_type:
            text = selectors.download(task.pk, wanted.filter)
            return _stream(text, "text/plain; charset=utf-8", file=f"{task.object_name}.log")
        if media == LineStream.media_type:
            choose = streams.following if wanted.follow else streams.all_lines
            return _stream(choose(person, task, wanted.filter, after=wanted.after or START), media)
        page = selectors.lines(task.pk, **wanted.narrowing, **wanted.window)
        return Response(LinesAnswer(page).data)


def _stream(content: AsyncIterator[bytes], media: str, *, file: str = "") -> StreamingHttpResponse:
    """Sent as it is made; a proxy must neither gather nor keep it."""
    response = StreamingHttpResponse(content, content_type=media)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    if file:
        response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response
