"""exec into a container over a WebSocket, in the channel protocol of Kubernetes (v4 and v5.channel.k8s.io).

Each binary message begins with its channel: 0 stdin, 1 stdout, 2 stderr, 3 the final Status, 4 resize, 255 (v5) a
channel that ends. The command runs as the container's own; there is no namespace to enter.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from devkube.agent.launch import Obj
from devkube.agent.runs import Run
from devkube.agent.stopping import inside

STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
DRAIN_SECONDS = 2.0
CHUNK = 32768


@dataclass(frozen=True, slots=True)
class ExecQuery:
    """What to run and which streams to join."""

    command: Sequence[str]
    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool


def status_of(code: int) -> Obj:
    """The Status that ends the stream."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    text = f"command terminated with non-zero exit code: error executing command, exit code {code}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": text,
        "reason": "NonZeroExitCode",
        "details": {"causes": causes},
    }


def failure(message: str) -> Obj:
    """The Status of a command that could not be started."""
    return {"metadata": {}, "status": "Failure", "reason": "InternalError", "message": message, "code": 500}


async def serve(socket: WebSocket, run: Run, query: ExecQuery) -> None:
    """Run the command until it ends or the client goes; a client that goes takes the command along."""
    offered = socket.scope.get("subprotocols") or []
    await socket.accept(subprotocol=next((each for each in PROTOCOLS if each in offered), None))
    try:
        session = Terminal(run, query) if query.tty else Pipes(run, query)
        await session.open()
        final = status_of(await _talk(socket, session))
    except OSError as error:
        program = query.command[0] if query.command else ""
        final = failure(f'exec: "{program}": {error.strerror or error}')
    except WebSocketDisconnect:
        return
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await socket.send_bytes(bytes([STATUS]) + json.dumps(final).encode())
        await socket.close()


class Pipes:
    """A command with three pipes."""

    def __init__(self, run: Run, query: ExecQuery) -> None:
        """Nothing starts before `open`."""
        self.run, self.query = run, query
        self.process: asyncio.subprocess.Process | None = None

    async def open(self) -> None:
        """Start the command; raises OSError."""
        self.process = await inside(self.run, self.query.command, subprocess.PIPE, subprocess.PIPE)
        if not self.query.stdin and self.process.stdin:
            self.process.stdin.close()

    async def hear(self, channel: int, data: bytes) -> None:
        """Take a message from the client."""
        stdin = self.process.stdin if self.process else None
        if stdin is None or stdin.is_closing():
            return
        if channel == STDIN and self.query.stdin:
            with contextlib.suppress(ConnectionError):
                stdin.write(data)
                await stdin.drain()
        elif channel == CLOSE and data[:1] == bytes([STDIN]):
            stdin.close()

    def copies(self, send: Send) -> list[Awaitable[None]]:
        """The loops that bring the command's output to the client."""
        if self.process is None:
            return []
        pairs = [(self.process.stdout, STDOUT, self.query.stdout), (self.process.stderr, STDERR, self.query.stderr)]
        return [_copy(source, channel, send, wanted) for source, channel, wanted in pairs if source]

    def close(self) -> None:
        """Give back what `open` took."""


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, run: Run, query: ExecQuery) -> None:
        """Nothing starts before `open`."""
        self.run, self.query = run, query
        self.process: asyncio.subprocess.Process | None = None
        self._ours = -1
        self._output: asyncio.Queue[bytes] = asyncio.Queue()

    async def open(self) -> None:
        """Start the command; raises OSError."""
        self._ours, theirs = pty.openpty()
        try:
            self.process = await inside(self.run, self.query.command, theirs, theirs, terminal=True)
        except OSError:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._ours, False)
        asyncio.get_running_loop().add_reader(self._ours, self._readable)

    def _readable(self) -> None:
        try:
            data = os.read(self._ours, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the other end any more
            data = b""
        self._output.put_nowait(data)
        if not data:
            asyncio.get_running_loop().remove_reader(self._ours)

    async def hear(self, channel: int, data: bytes) -> None:
        """Take a message from the client."""
        if channel == STDIN:
            await self._write(data)
        elif channel == RESIZE:
            with contextlib.suppress(ValueError, TypeError, KeyError, OSError, struct.error):
                size = json.loads(data)
                packed = struct.pack("HHHH", size["Height"], size["Width"], 0, 0)
                fcntl.ioctl(self._ours, termios.TIOCSWINSZ, packed)

    async def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._ours, data) :]
            except BlockingIOError:
                await asyncio.sleep(0.01)
            except OSError:
                return

    def copies(self, send: Send) -> list[Awaitable[None]]:
        """The loop that brings the terminal's output to the client."""

        async def copy() -> None:
            while data := await self._output.get():
                await send(bytes([STDOUT]) + data)

        return [copy()]

    def close(self) -> None:
        """Give back what `open` took."""
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)


Send = Callable[[bytes], Awaitable[None]]


async def _copy(source: asyncio.StreamReader, channel: int, send: Send, wanted: bool) -> None:
    while data := await source.read(CHUNK):
        if wanted:
            await send(bytes([channel]) + data)


async def _talk(socket: WebSocket, session: Pipes | Terminal) -> int:
    """Join client and command; the exit code. Raises WebSocketDisconnect when the client goes first."""
    process = session.process
    if process is None:
        raise OSError("not started")

    async def listen() -> None:
        while True:
            if message := await socket.receive_bytes():
                await session.hear(message[0], message[1:])

    copies = [asyncio.ensure_future(each) for each in session.copies(socket.send_bytes)]
    listener, ended = asyncio.create_task(listen()), asyncio.create_task(process.wait())
    try:
        await asyncio.wait([ended, listener], return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await listener
        code = await ended
        await asyncio.wait(copies, timeout=DRAIN_SECONDS)
        return 128 - code if code < 0 else code
    finally:
        for task in (*copies, listener):
            task.cancel()
        await asyncio.gather(*copies, listener, return_exceptions=True)
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await asyncio.gather(ended, return_exceptions=True)
        session.close()
