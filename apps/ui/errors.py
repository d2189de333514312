"""Error pages and their short form for fragments; each carries the request id that stands in the server's log."""

from __future__ import annotations

from http import HTTPStatus

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.ui.htmx import problem, way_back

_CODES = {400: "invalid", 403: "forbidden", 404: "not_found", 500: "unavailable"}


def request_id() -> str:
    """The id that every log line of this request carries, or nothing outside of one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 400, _("The request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 403, _("You may look at this, but not do that."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer(request, 404, _("There is nothing here, or it is not yours to see."))


def server_error(request: HttpRequest) -> HttpResponse:
    return _answer(request, 500, _("Something went wrong on our side."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that was sent with an old or a foreign CSRF token: nothing was done."""
    text = _("The form is out of date: reload the page and send it again. Nothing was changed.")
    return _answer(request, 403, text, template="errors/403_csrf.html", back=way_back(request))


def _answer(
    request: HttpRequest, status: int, text: str, *, template: str | None = None, back: str = "/"
) -> HttpResponse:
    if request.path.startswith("/api/"):
        title = HTTPStatus(status).phrase
        body = {"type": "about:blank", "title": title, "status": status, "detail": text, "code": _CODES[status]}
        return JsonResponse(body, status=status, content_type="application/problem+json")
    if request.headers.get("HX-Request") == "true":
        return problem(text, status=status)
    context = {"status": status, "text": text, "request_id": request_id(), "way_back": back}
    return render(request, template or f"errors/{status}.html", context, status=status)
