"""The only place where plaintext credentials exist: sealed with the newest key, opened with any that is listed."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class SealBroken(Exception):
    """The stored bytes open with none of the keys in PLATFORM_SEALING_KEYS."""


class Credentials(msgspec.Struct, frozen=True):
    """How the platform signs in to a cluster; ``ca`` is PEM text, or None for the machine's own authorities.

    By ``token``, by a client certificate with its key (PEM), or both; ``server_name`` is what its certificate says.
    """

    server: str
    token: str
    ca: str | None = None
    verify: bool = True
    client_certificate: str = ""
    client_key: str = ""
    server_name: str = ""

    def __repr__(self) -> str:
        return f"Credentials(server={self.server!r}, token=…)"


@lru_cache(maxsize=4)
def _box(keys: tuple[str, ...]) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError as fault:
        raise ImproperlyConfigured("PLATFORM_SEALING_KEYS: each must be a Fernet key, 32 bytes in base64") from fault


def seal(text: str) -> bytes:
    """Seal a secret text with the newest key."""
    return _box(tuple(settings.SEALING_KEYS)).encrypt(text.encode())


def unseal(blob: bytes | memoryview) -> str:
    """The text that was sealed; raises SealBroken."""
    try:
        return _box(tuple(settings.SEALING_KEYS)).decrypt(bytes(blob)).decode()
    except InvalidToken as fault:
        raise SealBroken("sealed with a key that is not among PLATFORM_SEALING_KEYS") from fault


def reseal(blob: bytes | memoryview) -> bytes:
    """The same secret under the newest key; raises SealBroken."""
    return seal(unseal(blob))


def seal_credentials(credentials: Credentials) -> bytes:
    return seal(msgspec.json.encode(credentials).decode())


def unseal_credentials(blob: bytes | memoryview) -> Credentials:
    """The credentials of a cluster; raises SealBroken."""
    try:
        return msgspec.json.decode(unseal(blob), type=Credentials)
    except msgspec.DecodeError as fault:
        raise SealBroken("the sealed text is no credentials") from fault
