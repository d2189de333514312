"""A certificate of one's own for the loopback address: kubectl keeps a token to itself where there is no TLS."""

import ipaddress
import os
from pathlib import Path

from devkube.embedded import clock

DAYS = 3650


def ensure(folder: Path) -> tuple[Path, Path]:
    """Return the paths of the certificate and its key, made once per data folder."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    if not (certificate.exists() and key.exists()):
        _make(certificate, key)
    return certificate, key


def _make(certificate: Path, key_file: Path) -> None:
    # Needed once in the life of a cluster, so the import is not part of every start.
    from cryptography import x509  # noqa: PLC0415 # see above
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 # see above
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 # see above
    from cryptography.x509.oid import NameOID  # noqa: PLC0415 # see above

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "devkube")])
    names = [x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")), x509.DNSName("localhost")]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(clock.later(-86400))
        .not_valid_after(clock.later(DAYS * 86400))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    with os.fdopen(os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(secret)
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
