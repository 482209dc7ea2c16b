"""Self-signed certificates: what they are good for, and what is no pair."""

import ssl

import pytest
from cryptography import x509

from extender.certificates.issuing import (
    BACKDATED,
    LIFETIME,
    BadCertificate,
    KeyPair,
    self_signed,
    validity_of,
)

NAMES = ("paddock.paddock-system.svc", "localhost", "127.0.0.1")
NOW = 1_800_000_000.0


def test_a_certificate_has_its_names_and_its_time() -> None:
    validity = validity_of(self_signed(NAMES, now=NOW))
    assert validity.names == frozenset(NAMES)
    assert (validity.since, validity.until) == (NOW - BACKDATED, NOW + LIFETIME)
    assert validity.calls


def test_two_certificates_are_never_the_same() -> None:
    first, second = (self_signed(NAMES, now=NOW) for _ in range(2))
    assert first.key != second.key
    assert first.certificate != second.certificate


def test_a_certificate_is_its_own_authority() -> None:
    context = ssl.create_default_context(cadata=self_signed(NAMES, now=NOW).certificate)
    assert context.cert_store_stats()["x509"] == 1


def test_openssl_tells_two_of_the_same_name_apart() -> None:
    """During a rotation clients have both, and whichever is served must be verified."""
    pairs = [self_signed(NAMES, now=NOW) for _ in range(2)]
    found = [x509.load_pem_x509_certificate(pair.certificate.encode()).extensions for pair in pairs]
    own = [each.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest for each in found]
    issuers = [
        each.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier for each in found
    ]
    assert own == issuers
    assert own[0] != own[1]


@pytest.mark.parametrize(
    "pair",
    [
        KeyPair("", ""),
        KeyPair("no certificate", "no key"),
        KeyPair(self_signed(NAMES, now=NOW).certificate, self_signed(NAMES, now=NOW).key),
    ],
    ids=["empty", "no PEM", "key of another"],
)
def test_a_pair_that_does_not_fit_is_refused(pair: KeyPair) -> None:
    with pytest.raises(BadCertificate):
        validity_of(pair)


def test_no_text_shows_a_key() -> None:
    pair = self_signed(NAMES, now=NOW)
    assert "PRIVATE" not in repr(pair)
    with pytest.raises(BadCertificate) as caught:
        validity_of(KeyPair(pair.certificate, "-----BEGIN PRIVATE KEY-----\nsecret\n"))
    assert "secret" not in str(caught.value)
