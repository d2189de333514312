"""Certificates, tokens and kubeconfigs of a control plane; all made once per folder, private files mode 0600."""

from __future__ import annotations

import csv
import ipaddress
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

MASTERS = "system:masters"
# Validity counts from long before any clock that a test may set.
BEGIN, END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=36500)
SERVICE_RANGE, SERVICE_IP = "10.96.0.0/16", "10.96.0.1"
HOSTS = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class User:
    """A person or program that a token stands for, with the groups that RBAC knows it by."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))


@dataclass(frozen=True, slots=True)
class Pair:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class Credentials:
    """The secrets of one plane in `folder`: its authority, its programs' certificates, the service accounts' key."""

    def __init__(self, folder: Path) -> None:
        """Makes what is not there yet."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        self.folder, self.tokens = folder, folder / "tokens.csv"
        self.ca = Pair(folder / "ca.crt", folder / "ca.key")
        self.account_key = folder / "service-accounts.key"
        if not self.ca.certificate.exists():
            _write_key(self.account_key, rsa.generate_private_key(public_exponent=65537, key_size=2048))
            self._make_authority()
        self.server = self.issue("server")
        self.kubelet_client = self.issue("apiserver-kubelet-client", MASTERS)

    def write_tokens(self, users: Sequence[User]) -> None:
        """The API server's token file; it is read at its start only."""
        with private(self.tokens) as file:
            writer = csv.writer(file)
            for user in users:
                writer.writerow([user.token, user.name, user.name, ",".join(user.groups)])

    def issue(self, name: str, group: str = "", *, until: datetime = END) -> Pair:
        """A certificate of this loopback machine, good as server and as client; the one of an earlier call if any."""
        pair = Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        if pair.certificate.exists():
            return pair
        authority = serialization.load_pem_private_key(self.ca.key.read_bytes(), None)
        if not isinstance(authority, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self.ca.key} is no key of ours")
        key = ec.generate_private_key(ec.SECP256R1())
        addresses = [x509.IPAddress(ipaddress.ip_address(ip)) for ip in ("127.0.0.1", SERVICE_IP)]
        hosts = [x509.DNSName(host) for host in HOSTS]
        # etcd's own gateway calls etcd with the server's certificate, so each is good for both sides.
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        made = (
            _builder(_name(name, group), key.public_key(), authority.public_key(), until)
            .add_extension(x509.SubjectAlternativeName([*addresses, *hosts]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(usage, critical=False)
        )
        _write_key(pair.key, key)
        _write_certificate(pair.certificate, made.sign(authority, hashes.SHA256()))
        return pair

    def _make_authority(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        made = (
            _builder(AUTHORITY, key.public_key(), key.public_key(), END)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs=True), critical=True)
        )
        _write_key(self.ca.key, key)
        _write_certificate(self.ca.certificate, made.sign(key, hashes.SHA256()))  # last: it says that all is there


def _name(common: str, organisation: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organisation:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    return x509.Name(parts)


AUTHORITY = _name("devkube-ca")


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _builder(
    subject: x509.Name, public: ec.EllipticCurvePublicKey, signer: ec.EllipticCurvePublicKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder(AUTHORITY, subject, public, x509.random_serial_number())
        .not_valid_before(BEGIN)
        .not_valid_after(until)
        # Python 3.13 and newer insist on both identifiers.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    )


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    with private(path) as file:
        file.write(secret.decode("ascii"))


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def private(path: Path) -> TextIO:
    """Open a text file for writing that only its owner may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="")
