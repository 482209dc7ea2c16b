"""Self-signed serving certificates. No I/O."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from core.errors import PaddockError

LIFETIME = 90 * 86_400
"""Seconds for which a certificate is valid."""

BACKDATED = 3_600
"""Seconds before its creation at which a certificate becomes valid, for clocks that are behind."""

# With the second usage an instance identifies itself to the leader.
_PURPOSES = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)


class BadCertificate(PaddockError):
    """Error for an unusable certificate or key."""


@dataclass(frozen=True, slots=True, repr=False)
class KeyPair:
    """Certificate and key as PEM. The representation of an instance never shows the key."""

    certificate: str
    key: str

    def __repr__(self) -> str:
        return f"KeyPair({self.certificate!r})"


@dataclass(frozen=True, slots=True)
class Validity:
    """Names and time for which a certificate is good. ``since`` and ``until``: seconds since 1970.

    ``calls``: whether an instance may show it to another one.
    """

    names: frozenset[str]
    since: float
    until: float
    calls: bool = True

    @property
    def lifetime(self) -> float:
        """Seconds from ``since`` to ``until``."""
        return self.until - self.since


def self_signed(names: Collection[str], *, now: float) -> KeyPair:
    """Make a self-signed certificate for these names and addresses.

    ``now``: seconds since 1970. The first name in order is its common name.
    """
    ordered = sorted(names)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ordered[0][:64])])
    made = datetime.fromtimestamp(int(now), UTC)
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(made - timedelta(seconds=BACKDATED))
        .not_valid_after(made + timedelta(seconds=LIFETIME))
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in ordered]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_PURPOSES), critical=False)
        # OpenSSL looks for the issuer by name. Two certificates of a bundle share it, and differ in these.
        .add_extension(own, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier(own.digest, None, None), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM).decode(), secret.decode())


def validity_of(pair: KeyPair) -> Validity:
    """Return a pair's names and period. Raises `BadCertificate` if its parts do not match."""
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
        key = serialization.load_pem_private_key(pair.key.encode(), password=None)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (ValueError, TypeError, x509.ExtensionNotFound) as error:
        # The text of the error is left out, since it may repeat parts of a key.
        raise BadCertificate(f"not readable: {type(error).__name__}") from None
    if key.public_key() != certificate.public_key():
        raise BadCertificate("the key is of another certificate")
    return Validity(
        frozenset(str(each.value) for each in names),
        certificate.not_valid_before_utc.timestamp(),
        certificate.not_valid_after_utc.timestamp(),
        ExtendedKeyUsageOID.CLIENT_AUTH in purposes,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
