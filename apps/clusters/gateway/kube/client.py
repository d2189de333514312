"""One cluster's HTTP client: the official ``ApiClient`` with a configuration of its own, raw answers, bounds on all.

Nothing here touches the library's shared default configuration, so threads never meet in it (F19).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from urllib3 import Retry
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from apps.clusters.gateway.kube.errors import NO_ANSWER, REDIRECT, TOO_LARGE, TOO_SLOW, error_for
from apps.clusters.gateway.kube.tls import context_of
from apps.clusters.gateway.port import GatewayError, Transient

LARGEST_ANSWER = 64 * 2**20
LARGEST_LINE = 8 * 2**20
LARGEST_FAULT = 64 * 2**10
CHUNK = 64 * 2**10
LONGEST_CONNECT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one cluster; ``ca`` is PEM text, or None for the machine's own authorities."""

    server: str
    token: str = field(repr=False)
    ca: str | None = None
    verify: bool = True
    client_certificate: str = field(default="", repr=False)
    client_key: str = field(default="", repr=False)
    server_name: str = ""


def _configuration(access: Access) -> Configuration:
    configuration = Configuration(host=access.server.rstrip("/"), ca_cert_data=access.ca)
    configuration.verify_ssl = access.verify
    # The bearer token goes to the cluster alone: no proxy from this process's environment, no redirect followed.
    configuration.proxy = None
    configuration.no_proxy = "*"
    configuration.retries = Retry(total=False, redirect=False)
    configuration.connection_pool_maxsize = 16
    configuration.keep_alive = True
    configuration.tls_server_name = access.server_name or None
    return configuration


class Client:
    """Calls one API server; raises GatewayError and nothing else. ``seconds`` bounds each call from start to end."""

    def __init__(self, access: Access, *, seconds: float) -> None:
        self.access, self.seconds = access, seconds
        self._server = access.server.rstrip("/")
        self._seconds = seconds
        # The header is set here and not through the library's key table, whose key names changed between releases:
        # a request without it would be answered 401, or served as an anonymous user.
        header = {"header_name": "Authorization", "header_value": f"Bearer {access.token}"} if access.token else {}
        self._api = ApiClient(_configuration(access), **header)
        self._api.user_agent = "gpu-platform"
        if access.client_certificate:
            self._api.rest_client.pool_manager.connection_pool_kw["ssl_context"] = context_of(access)

    @property
    def place(self) -> str:
        """Host and port, as people know the cluster's address."""
        return urlsplit(self._server).netloc

    @property
    def connect_seconds(self) -> float:
        return min(self._seconds, LONGEST_CONNECT_SECONDS)

    def close(self) -> None:
        self._api.close()  # type: ignore[no-untyped-call]  # the client's own method has no types

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: dict[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        """The whole answer's bytes, at most LARGEST_ANSWER; raises Transient, Rejected, Forbidden, Gone or Conflict."""
        return self.dated_call(method, path, query=query, body=body, content_type=content_type)[0]

    def dated_call(
        self,
        method: str,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: dict[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> tuple[bytes, str]:
        """``call``, and the time at which the server says that it answered (its Date header, empty without one)."""
        deadline = time.monotonic() + self._seconds
        response = self._open(method, path, query, body, content_type, read_seconds=self._seconds)
        try:
            return _whole(response, deadline), response.headers.get("Date") or ""
        except HTTPError as fault:
            raise Transient(f"the answer broke off: {_words(fault)}", reason=NO_ANSWER) from fault
        finally:
            response.close()

    def stream(self, path: str, query: Sequence[tuple[str, str]], *, seconds: float) -> Iterator[bytes]:
        """The answer's bytes as they come; ``seconds`` without a byte is a lost connection."""
        response = self._open("GET", path, query, None, "application/json", read_seconds=seconds)
        try:
            yield from response.stream(CHUNK, decode_content=True)
        except HTTPError as fault:
            raise Transient(f"the stream broke off: {_words(fault)}") from fault
        finally:
            # Never back into the pool: bytes of this answer may still be under way.
            response.close()

    def lines(self, path: str, query: Sequence[tuple[str, str]], *, seconds: float) -> Iterator[bytes]:
        """The answer's lines as they come, empty ones left out."""
        held = b""
        for chunk in self.stream(path, query, seconds=seconds):
            *whole, held = (held + chunk).split(b"\n")
            yield from filter(None, whole)
            if len(held) > LARGEST_LINE:
                raise Transient("the cluster sent a line without an end")

    def _open(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        body: dict[str, Any] | None,
        content_type: str,
        *,
        read_seconds: float,
    ) -> BaseHTTPResponse:
        url = f"{self._server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {**self._api.default_headers, "Accept": "application/json", "Content-Type": content_type}
        timeout = (self.connect_seconds, read_seconds)
        try:
            answer = self._api.call_api(method, url, headers, body, _request_timeout=timeout)
        except (HTTPError, ApiException, OSError, ValueError) as fault:
            raise Transient(f"no answer from {self._server}: {_words(fault)}", reason=NO_ANSWER) from fault
        response: BaseHTTPResponse = answer.response
        if not 200 <= response.status <= 299:
            raise _fault_of(response)
        return response


def _whole(response: BaseHTTPResponse, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    for chunk in response.stream(CHUNK, decode_content=True):
        parts.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            raise Transient(f"the answer is larger than {LARGEST_ANSWER} bytes", reason=TOO_LARGE)
        # A read time-out alone never fires on a server that sends a byte now and then.
        if time.monotonic() > deadline:
            raise Transient("the answer took too long", reason=TOO_SLOW)
    return b"".join(parts)


def _fault_of(response: BaseHTTPResponse) -> GatewayError:
    try:
        body = response.read(LARGEST_FAULT, decode_content=True)
    except HTTPError:
        body = b""
    finally:
        response.close()
    if 300 <= response.status <= 399:
        return Transient("the API address answers with a redirect, which is not followed", response.status, REDIRECT)
    return error_for(response.status, body, retry_after=_seconds(response.headers.get("Retry-After")))


def _seconds(header: str | None) -> int | None:
    return int(header) if header and header.isascii() and header.isdigit() and len(header) < 6 else None


def _words(fault: Exception) -> str:
    """The fault in one bounded line; a library's message names hosts and causes, never the token."""
    return " ".join(str(fault).split())[:300] or type(fault).__name__
