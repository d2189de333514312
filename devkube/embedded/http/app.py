"""The ASGI application: authentication, routing, refusals."""

import logging
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from devkube.embedded import errors
from devkube.embedded.errors import ApiError
from devkube.embedded.http import discovery, openapi, pods, reading, removing, streams, watching, writing
from devkube.embedded.http.call import Api, Call
from devkube.embedded.http.codec import answer, refusal
from devkube.embedded.http.paths import Target, target_of

LOG = logging.getLogger(__name__)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
OPEN = ("/healthz", "/livez", "/readyz")


def build(api: Api) -> Starlette:
    """Return the application."""

    async def http(request: Request) -> Response:
        try:
            return await _answer(api, request)
        except ApiError as refused:
            return refusal(refused)
        except Exception:
            LOG.exception("request failed: %s %s", request.method, request.url.path)
            return refusal(ApiError(500, "InternalError", "Internal error occurred: see the server's log"))

    async def socket(websocket: WebSocket) -> None:
        await streams.enter(api, websocket)

    return Starlette(routes=[Route("/{path:path}", http, methods=METHODS), WebSocketRoute("/{path:path}", socket)])


async def _answer(api: Api, request: Request) -> Response:
    path = request.url.path.rstrip("/")
    if path in OPEN or path.startswith(("/readyz/", "/livez/")):
        return PlainTextResponse("ok")
    if path == "/version":
        return answer(discovery.VERSION)
    if not api.knows(request.headers.get("authorization", "")):
        raise errors.unauthorized()
    if path == "":
        return answer({"paths": ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/readyz", "/version"]})
    if path.startswith("/openapi/v3"):
        _only_get(request)
        return answer(openapi.document(path))
    if not path.startswith(("/api/", "/apis/")) or len(path.split("/")) <= (3 if path.startswith("/api/") else 4):
        _only_get(request)
        if "\x00" in path:
            raise errors.no_such_path()
        return answer(discovery.document(path))
    return await _dispatch(Call(api, request, target_of(path)))


def _only_get(request: Request) -> None:
    if request.method not in ("GET", "HEAD"):
        raise errors.method_not_allowed()


Handler = Callable[[Call], Awaitable[Response]]

_POD_POST: dict[str, Handler] = {"binding": pods.bind, "eviction": pods.evict}


async def _dispatch(call: Call) -> Response:
    target, method = call.target, call.request.method
    if target.part in ("log", "exec", "attach", "portforward", "binding", "eviction"):
        return await _pod_part(call, target, method)
    if method in ("GET", "HEAD"):
        return _read(call)
    if method == "POST" and not target.name:
        return await writing.create(call)
    if method == "DELETE":
        return await (removing.delete(call) if target.name else removing.delete_collection(call))
    if target.name and method == "PUT":
        return await writing.replace(call)
    if target.name and method == "PATCH":
        return await writing.patch(call)
    raise errors.method_not_allowed()


def _read(call: Call) -> Response:
    if call.target.name:
        if call.flag("watch"):
            raise errors.method_not_allowed()
        return reading.get(call)
    return watching.watch(call) if call.flag("watch") else reading.list_objects(call)


async def _pod_part(call: Call, target: Target, method: str) -> Response:
    if target.part in _POD_POST and method == "POST":
        return await _POD_POST[target.part](call)
    if target.part == "log" and method == "GET":
        return await pods.log(call)
    if target.part == "exec" and method in ("GET", "POST"):
        raise errors.bad_request("Upgrade request required")
    raise errors.method_not_allowed()
