"""TLS towards a cluster: whom to trust, how to show a client certificate, and what certificate the server has."""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from apps.clusters.domain.survey import CertificateSeen, Failure
from apps.clusters.gateway.port import Forbidden

if TYPE_CHECKING:
    from apps.clusters.gateway.kube.client import Access

# OpenSSL's numbers of why a certificate was not trusted (X509_V_ERR_*).
FAULTS = {
    62: "other_host",
    64: "other_host",
    10: "certificate_expired",
    9: "certificate_early",
    18: "unknown_authority",
    19: "unknown_authority",
    20: "unknown_authority",
    21: "unknown_authority",
}
# What OpenSSL says of an answer that is no TLS at all; the rest is a server that would not have us, or we not it.
NOT_TLS = frozenset(
    {
        "WRONG_VERSION_NUMBER",
        "RECORD_LAYER_FAILURE",
        "UNKNOWN_PROTOCOL",
        "HTTP_REQUEST",
        "PACKET_LENGTH_TOO_LONG",
        "UNEXPECTED_MESSAGE",
        "UNEXPECTED_EOF_WHILE_READING",
    }
)


def trust(ca: str | None, *, verify: bool) -> ssl.SSLContext:
    """Trust these authorities (PEM), else the machine's own; without ``verify`` whoever answers."""
    try:
        context = ssl.create_default_context(cadata=ca or None)
    except ssl.SSLError as fault:
        raise Forbidden(f"the CA certificates cannot be used: {fault.reason}") from fault
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def show_client(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Show this certificate to the server. OpenSSL takes them from a file only: this one is in memory, and closed."""
    if not hasattr(os, "memfd_create"):
        raise Forbidden("client certificates need Linux here; use a service account's token (deploy/rbac)")
    descriptor = os.memfd_create("client", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "w") as file:
            file.write(f"{certificate}\n{key}\n")
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    except (ssl.SSLError, OSError) as fault:
        raise Forbidden("the client certificate and its key cannot be used together") from fault
    finally:
        os.close(descriptor)


def context_of(access: Access) -> ssl.SSLContext:
    """Whom to trust and what to show, as this access says. Raises Forbidden for what cannot be used."""
    context = trust(access.ca, verify=access.verify)
    if access.client_certificate:
        show_client(context, access.client_certificate, access.client_key)
    return context


def look_at(access: Access, *, seconds: float) -> CertificateSeen | Failure | None:
    """The server's certificate, why nobody answers there (``refused``, ``timed_out``, …), or None for plain http."""
    parts = urlsplit(access.server)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    numbers = {"address": f"{host}:{port}", "host": host, "seconds": round(seconds)}
    try:
        with socket.create_connection((host, port), timeout=seconds) as connection:
            if parts.scheme != "https":
                return None
            return _shown(connection, context_of(access), access.server_name or host, checked=access.verify)
    except ssl.SSLCertVerificationError as fault:
        return _distrusted(fault, (host, port), access.server_name or host, seconds)
    except (OSError, ValueError, Forbidden) as fault:
        return Failure(_why(fault), str(fault), numbers)


def _why(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLError):
        return "not_tls" if fault.reason in NOT_TLS else "untrusted"
    known: tuple[tuple[type[Exception], str], ...] = (
        (socket.gaierror, "name_unknown"),
        (TimeoutError, "timed_out"),
        (ConnectionRefusedError, "refused"),
        (Forbidden, "untrusted"),
    )
    return next((token for kind, token in known if isinstance(fault, kind)), "no_answer")


def _shown(connection: socket.socket, context: ssl.SSLContext, name: str, *, checked: bool) -> CertificateSeen:
    with context.wrap_socket(connection, server_hostname=name) as wrapped:
        return _read(wrapped.getpeercert(binary_form=True) or b"", checked=checked)


def _distrusted(
    fault: ssl.SSLCertVerificationError, place: tuple[str, int], name: str, seconds: float
) -> CertificateSeen | Failure:
    """Look again without trust, so that names, issuer and dates can be told. Nothing is sent to such a server."""
    token = FAULTS.get(fault.verify_code, "untrusted")
    try:
        with socket.create_connection(place, timeout=seconds) as connection:
            seen = _shown(connection, trust(None, verify=False), name, checked=True)
    except (OSError, ValueError):
        return Failure(token, fault.verify_message)
    return CertificateSeen(seen.until, seen.names, seen.issuer, token)


def _read(der: bytes, *, checked: bool) -> CertificateSeen:
    """The certificate's facts; raises ValueError for one that cannot be read."""
    try:
        certificate = x509.load_der_x509_certificate(der)
        issuer = certificate.issuer.rfc4514_string()
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = [str(one.value) for one in found if isinstance(one, x509.DNSName | x509.IPAddress)]
    except x509.ExtensionNotFound:
        names = []
    except UnsupportedAlgorithm as fault:
        raise ValueError(str(fault)) from fault
    return CertificateSeen(certificate.not_valid_after_utc, names, issuer, "", checked)
