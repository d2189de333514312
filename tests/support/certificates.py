"""Certificates of a test's own: an authority, what it signs, and keys, as PEM text."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
YEAR = timedelta(days=365)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate with its key."""

    certificate: str
    key: str
    made: x509.Certificate
    secret: ec.EllipticCurvePrivateKey


def a_certificate(
    name: str = "devkube",
    *,
    by: Pair | None = None,
    hosts: tuple[str, ...] = (),
    since: datetime = NOON - YEAR,
    until: datetime = NOON + YEAR,
) -> Pair:
    """Signed by ``by``, or an authority of its own; for ``hosts``, names or addresses."""
    secret = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer, signer = (by.made.subject, by.secret) if by else (subject, secret)
    builder = (
        x509.CertificateBuilder(issuer, subject, secret.public_key(), x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    made = builder.sign(signer, hashes.SHA256())
    return Pair(made.public_bytes(serialization.Encoding.PEM).decode(), key_text(secret), made, secret)


def key_text(secret: ec.EllipticCurvePrivateKey, passphrase: str = "") -> str:
    locked = serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    return secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked).decode()


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
