"""Compressed bodies: every encoding that Vector has, never more memory than the bound."""

from __future__ import annotations

import cramjam
import pytest

from apps.logs.domain.bodies import BodyTooLargeError, BrokenBodyError, UnknownEncodingError, decoded

TEXT = b'[{"message": "epoch"}]' * 200
ENCODED = {
    "": TEXT,
    "identity": TEXT,
    "gzip": bytes(cramjam.gzip.compress(TEXT)),
    "deflate": bytes(cramjam.zlib.compress(TEXT)),
    "zstd": bytes(cramjam.zstd.compress(TEXT)),
    "snappy": bytes(cramjam.snappy.compress_raw(TEXT)),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_body_is_decoded_in_every_encoding(encoding: str) -> None:
    assert decoded(ENCODED[encoding], encoding.upper()) == TEXT


def test_framed_snappy_is_read_too() -> None:
    assert decoded(bytes(cramjam.snappy.compress(TEXT)), "snappy") == TEXT


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_body_that_grows_beyond_the_bound_is_refused(encoding: str) -> None:
    with pytest.raises(BodyTooLargeError):
        decoded(ENCODED[encoding], encoding, largest=len(TEXT) - 1)


def test_a_body_much_larger_than_sent_is_decoded_up_to_the_bound() -> None:
    assert decoded(bytes(cramjam.zstd.compress(b"a" * 9_000_000)), "zstd", largest=9_000_000) == b"a" * 9_000_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "snappy"])
def test_a_body_that_is_not_in_its_encoding_is_told_apart(encoding: str) -> None:
    with pytest.raises(BrokenBodyError):
        decoded(b"nonsense", encoding)


def test_an_encoding_that_nobody_knows_is_told_apart() -> None:
    with pytest.raises(UnknownEncodingError):
        decoded(TEXT, "br")
