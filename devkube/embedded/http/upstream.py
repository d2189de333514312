"""A plain HTTP GET to a node agent whose answer is read as it comes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Self

import h11

CONNECT_SECONDS = 10.0
CHUNK = 64 * 1024


class UpstreamError(Exception):
    """The node does not answer, or not in HTTP."""


@dataclass(slots=True)
class Upstream:
    """An open answer; `close` it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    machine: h11.Connection
    status: int = 0

    @classmethod
    async def get(cls, host: str, port: int, target: str, token: str) -> Self:
        """Ask with our token, which the node knows; returns when the answer's head is there. Raises UpstreamError."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await asyncio.open_connection(host, port)
                made = cls(reader, writer, h11.Connection(h11.CLIENT))
                headers = [("Host", f"{host}:{port}"), ("Connection", "close"), ("Authorization", f"Bearer {token}")]
                ask = h11.Request(method="GET", target=target, headers=headers)
                for event in (ask, h11.EndOfMessage()):
                    writer.write(made.machine.send(event) or b"")
                await made._head()
                return made
        except (OSError, TimeoutError, h11.ProtocolError) as failed:
            raise UpstreamError(str(failed) or type(failed).__name__) from failed

    async def _head(self) -> None:
        try:
            while not isinstance(event := await self._event(), h11.Response):
                if isinstance(event, h11.ConnectionClosed):
                    raise UpstreamError("the node closed the connection")
            self.status = event.status_code
        except BaseException:
            self.writer.close()
            raise

    async def _event(self) -> object:
        while (event := self.machine.next_event()) is h11.NEED_DATA:
            self.machine.receive_data(await self.reader.read(CHUNK))
        return event

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body piece by piece; ends quietly when the node goes away."""
        try:
            while isinstance(event := await self._event(), h11.Data):
                yield bytes(event.data)
        except (OSError, h11.ProtocolError):
            return  # A log that breaks off behind the real server ends as quietly.
        finally:
            self.close()

    async def text(self, most: int) -> str:
        """Return the beginning of the body as text."""
        parts, size = [], 0
        async for part in self.body():
            parts.append(part)
            size += len(part)
            if size >= most:
                break
        return b"".join(parts)[:most].decode("utf-8", "replace")

    def close(self) -> None:
        """Let the connection go."""
        self.writer.close()
