"""A small HTTP server on loopback that answers what a test tells it to, byte for byte."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer; ``pause`` seconds pass before each chunk of the body."""

    status: int = 200
    body: bytes | list[bytes] = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0


@dataclass
class Served:
    """The server's address, its answers in order (the last one stays), and what was asked of it."""

    url: str
    answers: list[Answer]
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    by_path: dict[str, Answer] = field(default_factory=dict)
    """Answers that belong to a path, whatever came before."""


@contextmanager
def serving(*answers: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    served = Served("", list(answers) or [Answer()])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    served.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_words: Any) -> None:
            """Tests speak for themselves."""

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            served.requests.append((self.command, self.path, dict(self.headers), body))
            answer = served.by_path.get(self.path.partition("?")[0])
            answer = answer or (served.answers.pop(0) if len(served.answers) > 1 else served.answers[0])
            chunks = answer.body if isinstance(answer.body, list) else [answer.body]
            (self.send_response_only if "Date" in answer.headers else self.send_response)(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for chunk in [*chunks, b""]:
                    time.sleep(answer.pause)
                    self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                    self.wfile.flush()
            except OSError:
                self.close_connection = True

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler._answer)
    return Handler
