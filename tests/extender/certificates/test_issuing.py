"""Self-signed certificates: what they are good for, and what is no pair."""

import ssl

import pytest

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


def test_two_certificates_are_never_the_same() -> None:
    first, second = (self_signed(NAMES, now=NOW) for _ in range(2))
    assert first.key != second.key
    assert first.certificate != second.certificate


def test_a_certificate_is_its_own_authority() -> None:
    context = ssl.create_default_context(cadata=self_signed(NAMES, now=NOW).certificate)
    assert context.cert_store_stats()["x509"] == 1


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
