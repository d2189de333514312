"""exec: a WebSocket from the client joined to one at the pod's node."""

import asyncio
from urllib.parse import quote, urlencode

import websockets.asyncio.client as ws
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from devkube.embedded import errors
from devkube.embedded import resources as r
from devkube.embedded.errors import ApiError
from devkube.embedded.http.call import Api
from devkube.embedded.http.codec import refusal
from devkube.embedded.http.paths import target_of
from devkube.embedded.http.pods import container_of, kubelet_of
from devkube.embedded.objects import name_of, namespace_of, pod_finished

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
LARGEST = 1024 * 1024


async def enter(api: Api, socket: WebSocket) -> None:
    """Serve GET pods/NAME/exec; a refusal is an HTTP answer, before the socket opens."""
    try:
        url = _upstream(api, socket)
    except ApiError as refused:
        await socket.send_denial_response(refusal(refused))
        return
    offered = [each for each in PROTOCOLS if each in socket.scope.get("subprotocols", [])]
    if not offered:
        await socket.send_denial_response(refusal(errors.bad_request("no supported channel subprotocol was offered")))
        return
    try:
        upstream = await ws.connect(
            url,
            subprotocols=[Subprotocol(each) for each in offered],
            additional_headers={"Authorization": f"Bearer {api.token}"},  # the node answers to nobody else
            proxy=None,
            max_size=LARGEST,
            compression=None,
        )
    except (OSError, InvalidHandshake, TimeoutError) as failed:
        why = ApiError(500, "InternalError", f"Internal error occurred: error dialing backend: {failed}")
        await socket.send_denial_response(refusal(why))
        return
    await socket.accept(subprotocol=upstream.subprotocol or offered[-1])
    await _join(socket, upstream)


def _upstream(api: Api, socket: WebSocket) -> str:
    if not api.knows(socket.headers.get("authorization", "")):
        raise errors.unauthorized()
    target = target_of(socket.url.path)
    if target.resource is not r.PODS or target.part != "exec":
        raise errors.no_such_path()
    pod = api.registry.get(r.PODS, target.namespace, target.name).obj
    query = socket.query_params
    container = container_of(pod, query.get("container", ""))
    if not query.getlist("command"):
        raise errors.bad_request("you must specify at least 1 command for the container")
    if pod_finished(pod):
        raise errors.bad_request(f"cannot exec into a container in a completed pod; current phase is {_phase(pod)}")
    host, port = kubelet_of(api.registry, pod, container)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    path = "/".join(quote(part, safe="") for part in (namespace_of(pod), name_of(pod), container))
    flags = [(key, "true") for key in ("stdin", "stdout", "stderr", "tty") if query.get(key) in ("true", "1")]
    pairs = [*(("command", each) for each in query.getlist("command")), *flags]
    return f"ws://{place}/exec/{path}?{urlencode(pairs)}"


def _phase(pod: dict[str, object]) -> str:
    found = pod.get("status")
    return str(found.get("phase", "")) if isinstance(found, dict) else ""


async def _join(socket: WebSocket, upstream: ws.ClientConnection) -> None:
    down = asyncio.create_task(_down(socket, upstream))
    up = asyncio.create_task(_up(socket, upstream))
    try:
        await asyncio.wait({down, up}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (down, up):
            task.cancel()
        await asyncio.gather(down, up, return_exceptions=True)
        await upstream.close()
    try:
        await socket.close()
    except (RuntimeError, WebSocketDisconnect):
        return  # The client closed first.


async def _down(socket: WebSocket, upstream: ws.ClientConnection) -> None:
    try:
        async for message in upstream:
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_text(message)
    except (ConnectionClosed, WebSocketDisconnect, RuntimeError):
        return


async def _up(socket: WebSocket, upstream: ws.ClientConnection) -> None:
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            body = message.get("bytes")
            # Some clients send what was typed as text frames; a node is always given bytes.
            await upstream.send(body if body is not None else (message.get("text") or "").encode())
    except (ConnectionClosed, RuntimeError):
        return
