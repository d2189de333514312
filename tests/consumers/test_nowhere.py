"""A socket address that nobody serves is refused; it is no fault of the server."""

from __future__ import annotations

from channels.testing import WebsocketCommunicator

from platform_site.sockets import sockets


async def test_an_unknown_socket_is_refused() -> None:
    connected, _code = await WebsocketCommunicator(sockets, "/ws/nothing/here").connect()
    assert connected is False
