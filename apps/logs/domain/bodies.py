"""Compressed request bodies to bytes, with a bound on what they may grow to (external facts, Vector §2.4)."""

from __future__ import annotations

from collections.abc import Callable

import cramjam

LARGEST_SENT = 32 * 1024 * 1024
LARGEST_DECODED = 64 * 1024 * 1024
_FIRST_ROOM = 1024 * 1024
_SNAPPY_FRAME = b"\xff\x06\x00\x00sNaPpY"


class BodyTooLargeError(ValueError):
    """The body is, or would become, larger than the bound."""


class BrokenBodyError(ValueError):
    """The body is not in the encoding that it is said to have."""


class UnknownEncodingError(ValueError):
    """A Content-Encoding that is not known here."""


def decoded(body: bytes, encoding: str, *, largest: int = LARGEST_DECODED) -> bytes:
    """The body without its Content-Encoding (gzip, deflate = zlib, zstd, snappy); raises the three errors above."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        if len(body) > largest:
            raise BodyTooLargeError
        return body
    if name not in _DECODERS:
        raise UnknownEncodingError(name[:40])
    if name == "snappy" and not body.startswith(_SNAPPY_FRAME):
        return _raw_snappy(body, largest)
    return _bounded(body, _DECODERS[name], largest)


def _bounded(body: bytes, decode: Callable[[bytes, bytearray], int], largest: int) -> bytes:
    """Decode into a buffer of fixed size; a body that needs more than the largest one is refused, never unpacked."""
    room = min(largest, max(_FIRST_ROOM, len(body) * 12))
    while True:
        buffer = bytearray(room)
        try:
            return bytes(memoryview(buffer)[: decode(body, buffer)])
        except cramjam.DecompressionError as fault:
            if "whole buffer" not in str(fault):
                raise BrokenBodyError(str(fault)[:200]) from None
        if room == largest:
            raise BodyTooLargeError
        room = min(largest, room * 8)


def _raw_snappy(body: bytes, largest: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(body) > largest:
            raise BodyTooLargeError
        return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError as fault:
        raise BrokenBodyError(str(fault)[:200]) from None


_DECODERS: dict[str, Callable[[bytes, bytearray], int]] = {
    "gzip": cramjam.gzip.decompress_into,
    "x-gzip": cramjam.gzip.decompress_into,
    "deflate": cramjam.zlib.decompress_into,
    "zlib": cramjam.zlib.decompress_into,
    "zstd": cramjam.zstd.decompress_into,
    "snappy": cramjam.snappy.decompress_into,
}
