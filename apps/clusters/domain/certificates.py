"""Certificates and keys in PEM form, judged before anything is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

LARGEST = 100_000
SPKI = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def ca_fault(pem: str, now: datetime) -> str | None:
    """``ca_not_pem``, or ``ca_expired`` when none of the authorities is valid any more; None when they can be used."""
    found = certificates(pem)
    if not found:
        return "ca_not_pem"
    return None if any(certificate.not_valid_after_utc > now for certificate in found) else "ca_expired"


def client_fault(pem: str, key: str, now: datetime) -> str | None:
    """Why this certificate and key sign nobody in; None when they belong together and are valid now."""
    found = certificates(pem)
    if not found:
        return "client_not_pem"
    if found[0].not_valid_after_utc <= now:
        return "client_expired"
    if found[0].not_valid_before_utc > now:
        return "client_not_yet"
    if len(key) > LARGEST or "-----BEGIN" not in key:
        return "key_not_pem"
    return _key_fault(found[0], key)


def expiry(pem: str) -> datetime | None:
    """Until when the first certificate is valid."""
    found = certificates(pem)
    return found[0].not_valid_after_utc if found else None


def certificates(pem: str) -> Sequence[x509.Certificate]:
    """The certificates of the text in their order; none when any of them cannot be read."""
    if len(pem) > LARGEST:
        return ()
    try:
        found = x509.load_pem_x509_certificates(pem.encode("utf-8", "replace"))
        # A broken certificate shows itself when it is read, not when it is loaded.
        return [one for one in found if one.not_valid_before_utc <= one.not_valid_after_utc]
    except (ValueError, UnsupportedAlgorithm):
        return ()


def _key_fault(certificate: x509.Certificate, key: str) -> str | None:
    try:
        private = load_pem_private_key(key.encode(), password=None)
        same = private.public_key().public_bytes(*SPKI) == certificate.public_key().public_bytes(*SPKI)
    except TypeError:
        return "key_locked"
    except (ValueError, UnsupportedAlgorithm):
        return "key_not_pem"
    return None if same else "key_of_another"
