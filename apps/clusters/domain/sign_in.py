"""How the platform signs in to a cluster, as values, and what is wrong with an address or a token."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from apps.kernel.text import Said
from apps.kernel.text import say as _

LONGEST_ADDRESS = 300
LONGEST_TOKEN = 8000


@dataclass(frozen=True, slots=True)
class SignIn:
    """``ca`` is PEM text, None for the machine's own authorities; by token, by client certificate (PEM), or both."""

    server: str
    token: str = field(default="", repr=False)
    ca: str | None = None
    client_certificate: str = field(default="", repr=False)
    client_key: str = field(default="", repr=False)
    verify: bool = True
    server_name: str = ""


def address_fault(server: str) -> tuple[str, Said] | None:
    """Why this is no API address, as a token and a sentence; None for https, and for http on the machine itself."""
    if not server:
        return "no_server", _("there is no API address")
    try:
        parts = urlsplit(server)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    plain = len(server) <= LONGEST_ADDRESS and server.isascii() and server.isprintable() and " " not in server
    if not plain or not host or parts.scheme not in {"http", "https"} or port == 0 or "\\" in server:
        return "bad_server", _("an address such as https://10.0.0.1:6443")
    if parts.username is not None or parts.password is not None:
        return "server_with_user", _("an address without a user name or password in it")
    if parts.query or parts.fragment:
        return "bad_server", _("an address such as https://10.0.0.1:6443, without a query")
    if parts.scheme == "http" and not is_loopback(host):
        return "plain_http", _("http would send the token in the clear: use https")
    return None


def is_loopback(host: str) -> bool:
    """Whether the host is this machine itself, so that nothing leaves it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def token_fault(token: str) -> Said | None:
    """Why this is no bearer token: it would break the header, or be taken for another one."""
    if not token or len(token) > LONGEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        return _("a bearer token of printable characters without spaces")
    return None


def token_expiry(token: str) -> datetime | None:
    """Until when a service account's token is good, as it says itself; None for one that says nothing of it."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        until = claims.get("exp") if isinstance(claims, dict) else None
        return datetime.fromtimestamp(until, UTC) if isinstance(until, int | float) else None
    except (binascii.Error, ValueError, OverflowError, OSError, RecursionError):
        return None
