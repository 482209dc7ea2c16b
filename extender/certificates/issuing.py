"""Certificates that Paddock makes: self-signed ones, authorities, and what an authority signs. No I/O."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from core.errors import PaddockError

LIFETIME = 90 * 86_400
"""Seconds for which a certificate is valid."""

BACKDATED = 3_600
"""Seconds before its creation at which a certificate becomes valid, for clocks that are behind."""

SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH

# With the second usage an instance identifies itself to the leader.
_PURPOSES = (SERVER, CLIENT)
_KEY_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """Description of a certificate to make. ``name``: its common name; ``lifetime``: seconds from now on.

    ``names``: host names and addresses; ``purposes``: extended key usages. An authority has neither.
    """

    name: str
    lifetime: float
    names: frozenset[str] = frozenset()
    purposes: tuple[x509.ObjectIdentifier, ...] = ()

    @property
    def is_authority(self) -> bool:
        """True for a certificate that signs others."""
        return not self.purposes


def service_names(namespace: str) -> frozenset[str]:
    """Return the names under which Paddock's Service and this host are called."""
    service = f"paddock.{namespace}.svc"
    return frozenset({service, f"{service}.cluster.local", "localhost", "127.0.0.1"})


def self_signed(names: Collection[str], *, now: float) -> KeyPair:
    """Make a self-signed certificate for these names and addresses.

    ``now``: seconds since 1970. The first name in order is its common name.
    """
    return issued(Wanted(min(names), LIFETIME, frozenset(names), _PURPOSES), now=now)


def issued(wanted: Wanted, *, now: float, by: KeyPair | None = None) -> KeyPair:
    """Make a certificate. ``by``: the authority that signs it, None for itself.

    ``now``: seconds since 1970. The certificate ends no later than its authority. Raises `BadCertificate`
    for an authority that cannot be read.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, wanted.name[:64])])
    made = datetime.fromtimestamp(int(now), UTC)
    until = made + timedelta(seconds=wanted.lifetime)
    issuer, signing_key = _loaded(by) if by else (None, key)
    if not isinstance(signing_key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise BadCertificate("the key of the authority is of a kind that signs nothing here")
    signer = x509.SubjectKeyIdentifier.from_public_key(signing_key.public_key())
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(made - timedelta(seconds=BACKDATED))
        .not_valid_after(min(until, issuer.not_valid_after_utc) if issuer else until)
        # OpenSSL looks for the issuer by name. Two certificates of a bundle share it, and differ in these.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier(signer.digest, None, None), critical=False)
    )
    certificate = _for_its_use(builder, wanted).sign(signing_key, hashes.SHA256())
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM).decode(), secret.decode())


def _for_its_use(builder: x509.CertificateBuilder, wanted: Wanted) -> x509.CertificateBuilder:
    """Add what an authority may sign, or where and for what another certificate may be shown."""
    if wanted.is_authority:
        signs = dict.fromkeys(_KEY_USAGES, False) | {"key_cert_sign": True, "crl_sign": True}
        return builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        ).add_extension(x509.KeyUsage(**signs), critical=True)
    names = [_general_name(name) for name in sorted(wanted.names)]
    return (
        builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(wanted.purposes), critical=False)
    )


def is_signed_by(pair: KeyPair, authority: KeyPair) -> bool:
    """True if the authority has signed a pair's certificate. False for one that cannot be read."""
    try:
        _loaded(pair)[0].verify_directly_issued_by(_loaded(authority)[0])
    except (BadCertificate, ValueError, TypeError, InvalidSignature):
        return False
    return True


def validity_of(pair: KeyPair) -> Validity:
    """Return a pair's names and period; an authority has no names.

    Raises `BadCertificate` if its parts do not match.
    """
    certificate, _ = _loaded(pair)
    names, purposes = _uses(certificate)
    return Validity(
        names,
        certificate.not_valid_before_utc.timestamp(),
        certificate.not_valid_after_utc.timestamp(),
        CLIENT in purposes,
    )


def _uses(certificate: x509.Certificate) -> tuple[frozenset[str], Collection[x509.ObjectIdentifier]]:
    """Names and purposes of a certificate. Raises `BadCertificate` if one that signs none lacks them."""
    try:
        if certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
            return frozenset(), ()
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (ValueError, x509.ExtensionNotFound) as error:
        raise BadCertificate(f"not readable: {type(error).__name__}") from None
    return frozenset(str(each.value) for each in names), list(purposes)


def _loaded(pair: KeyPair) -> tuple[x509.Certificate, PrivateKeyTypes]:
    """Certificate and key of a pair. Raises `BadCertificate` if its parts do not match."""
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
        key = serialization.load_pem_private_key(pair.key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        # The text of the error is left out, since it may repeat parts of a key.
        raise BadCertificate(f"not readable: {type(error).__name__}") from None
    if key.public_key() != certificate.public_key():
        raise BadCertificate("the key is of another certificate")
    return certificate, key


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
