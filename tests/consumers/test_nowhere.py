"""A socket address that nobody serves is refused; it is no fault of the server."""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.testing import ApplicationCommunicator

from platform_site.sockets import sockets


async def _answer() -> Any:
    communicator: Any = ApplicationCommunicator  # asgiref's test tools carry no types
    place = {"type": "websocket", "path": "/ws/nothing/here", "query_string": b"", "headers": [], "subprotocols": []}
    socket = communicator(sockets, place)
    await socket.send_input({"type": "websocket.connect"})
    return await socket.receive_output(timeout=5)


def test_an_unknown_socket_is_refused() -> None:
    assert asyncio.run(_answer())["type"] == "websocket.close"
