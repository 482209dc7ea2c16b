"""Own authority of the verbs' port: what it signs, when that is renewed, and what both ends trust."""

import base64
import ssl
from dataclasses import replace

import pytest
from cryptography import x509

from extender.certificates.authority import (
    AUTHORITY_LIFETIME,
    AUTHORITY_PUBLISHED_FOR,
    AUTHORITY_RENEWED_AT,
    CLIENT_LIFETIME,
    CLIENT_RENEWED_AT,
    Authority,
    authority_at,
    authority_from,
    client_at,
    data_of_authority,
)
from extender.certificates.issuing import (
    BACKDATED,
    LIFETIME,
    SERVER,
    BadCertificate,
    KeyPair,
    Wanted,
    is_signed_by,
    issued,
    self_signed,
    service_names,
    validity_of,
)
from extender.certificates.rotation import RENEWED_AT, ServingPairs, data_of, pairs_from

NAMES = service_names("paddock-system")
NOW = 1_800_000_000.0
DAY = 86_400.0


def fresh(now: float = NOW) -> Authority:
    return authority_at(None, NAMES, now=now)


def purposes(pair: KeyPair) -> list[str]:
    certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
    usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    return [each._name for each in usages]


def test_an_authority_signs_a_server_and_a_client() -> None:
    authority = fresh()
    client = client_at(None, authority, now=NOW)
    assert is_signed_by(authority.server, authority.pairs.served)
    assert is_signed_by(client.served, authority.pairs.served)
    assert purposes(authority.server) == ["serverAuth"]
    assert purposes(client.served) == ["clientAuth"]
    assert client.trusted == authority.pairs.trusted == authority.pairs.served.certificate
    assert validity_of(authority.server).names == NAMES
    assert "paddock.paddock-system.svc" in NAMES


def test_each_is_valid_for_its_time() -> None:
    authority = fresh()
    ends = [
        validity_of(each).until - NOW
        for each in (authority.pairs.served, authority.server, client_at(None, authority, now=NOW).served)
    ]
    assert ends == [AUTHORITY_LIFETIME, LIFETIME, CLIENT_LIFETIME]


def test_a_certificate_ends_no_later_than_its_authority() -> None:
    authority = issued(Wanted("authority", DAY), now=NOW)
    made = issued(Wanted("server", 9 * DAY, NAMES, (SERVER,)), now=NOW, by=authority)
    assert validity_of(made).until == validity_of(authority).until


@pytest.mark.parametrize("now", [NOW, NOW + DAY, NOW - 60])
def test_what_is_in_its_prime_stays(now: float) -> None:
    authority = fresh()
    client = client_at(None, authority, now=NOW)
    assert authority_at(authority, NAMES, now=now) is authority
    assert client_at(client, authority, now=now) is client


def test_the_servers_certificate_is_renewed_by_the_same_authority() -> None:
    before = fresh()
    after = authority_at(before, NAMES, now=NOW + LIFETIME * RENEWED_AT)
    assert after.pairs == before.pairs
    assert after.server != before.server
    assert is_signed_by(after.server, before.pairs.served)


def test_the_clients_certificate_is_renewed_half_a_year_before_it_ends() -> None:
    authority = fresh()
    before = client_at(None, authority, now=NOW)
    due = NOW + CLIENT_LIFETIME * CLIENT_RENEWED_AT
    after = client_at(before, authority, now=due)
    assert after.served != before.served
    assert after.trusted == before.trusted
    assert validity_of(before.served).until - due >= 182 * DAY


def test_a_server_gets_the_names_that_it_lacks() -> None:
    after = authority_at(fresh(), NAMES | {"paddock.example"}, now=NOW)
    assert "paddock.example" in validity_of(after.server).names


def test_a_successor_is_trusted_for_a_clients_lifetime_before_it_signs() -> None:
    """A scheduler that read the former list restarts before its certificate ends, and reads the new one."""
    first = fresh()
    due = NOW + AUTHORITY_LIFETIME * AUTHORITY_RENEWED_AT
    staged = authority_at(first, NAMES, now=due)
    following = staged.pairs.next
    assert following is not None
    assert staged.pairs.trusted == first.pairs.served.certificate + following.certificate
    assert is_signed_by(staged.server, first.pairs.served)
    client = client_at(None, staged, now=due)
    assert is_signed_by(client.served, first.pairs.served)
    assert client.trusted == staged.pairs.trusted

    assert AUTHORITY_PUBLISHED_FOR >= CLIENT_LIFETIME
    switch = due + AUTHORITY_PUBLISHED_FOR
    assert authority_at(staged, NAMES, now=switch - 1).pairs == staged.pairs
    last = client_at(client, authority_at(staged, NAMES, now=switch - 1), now=switch - 1)
    second = authority_at(staged, NAMES, now=switch)
    assert second.pairs.served == following
    assert is_signed_by(second.server, following)
    assert is_signed_by(client_at(last, second, now=switch).served, following)
    # Whatever the former one has signed is accepted until it ends.
    assert second.pairs.trusted == staged.pairs.trusted
    assert validity_of(last.served).until <= validity_of(first.pairs.served).until
    third = authority_at(second, NAMES, now=validity_of(first.pairs.served).until - DAY)
    assert first.pairs.served.certificate in third.pairs.trusted


def test_the_former_authority_is_trusted_no_more_once_it_has_ended() -> None:
    authority, now = fresh(), NOW
    first = authority.pairs.served.certificate
    while now < NOW + AUTHORITY_LIFETIME + 2 * AUTHORITY_PUBLISHED_FOR:
        authority = authority_at(authority, NAMES, now=now)
        now += 30 * DAY
    assert first not in authority.pairs.trusted


def test_an_authority_whose_time_is_over_is_replaced_with_all_that_it_signed() -> None:
    before = fresh()
    client = client_at(None, before, now=NOW)
    later = NOW + AUTHORITY_LIFETIME
    after = authority_at(before, NAMES, now=later)
    assert after.pairs.served != before.pairs.served
    assert is_signed_by(after.server, after.pairs.served)
    assert is_signed_by(client_at(client, after, now=later).served, after.pairs.served)


def test_a_client_of_another_authority_is_signed_anew() -> None:
    mine, other = fresh(), fresh()
    client = client_at(client_at(None, other, now=NOW), mine, now=NOW)
    assert is_signed_by(client.served, mine.pairs.served)
    assert client.trusted == mine.pairs.trusted


def test_a_secret_gives_back_what_was_put_in() -> None:
    for authority in (fresh(), authority_at(fresh(), NAMES, now=NOW + AUTHORITY_LIFETIME * 0.6)):
        assert authority_from(data_of_authority(authority)) == authority


def test_a_secret_without_an_authority_holds_none() -> None:
    serving = self_signed(NAMES, now=NOW)
    assert authority_from({}) is None
    assert authority_from(data_of(ServingPairs(serving, serving.certificate))) is None


def test_a_missing_server_is_made_by_the_authority_that_is_there() -> None:
    before = fresh()
    data = data_of_authority(before)
    del data["server.key"]
    after = authority_at(authority_from(data), NAMES, now=NOW)
    assert after.pairs == before.pairs
    assert is_signed_by(after.server, before.pairs.served)


@pytest.mark.parametrize("text", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nno\n"])
def test_a_list_of_authorities_that_was_damaged_is_mended(text: str) -> None:
    before = fresh()
    data = {**data_of_authority(before), "ca.crt": base64.b64encode(text.encode()).decode()}
    after = authority_at(authority_from(data), NAMES, now=NOW)
    assert after.pairs.trusted == before.pairs.served.certificate
    damaged = replace(before, pairs=replace(before.pairs, trusted=before.pairs.trusted + text))
    ssl.create_default_context(cadata=authority_at(damaged, NAMES, now=NOW).pairs.trusted)


def test_files_of_a_client_are_those_that_kube_scheduler_reads() -> None:
    client = client_at(None, fresh(), now=NOW)
    assert set(data_of(client)) == {"tls.crt", "tls.key", "ca.crt"}
    assert pairs_from(data_of(client)) == client


def test_an_authority_may_sign_certificates_and_no_further_authority() -> None:
    authority = x509.load_pem_x509_certificate(fresh().pairs.served.certificate.encode())
    constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = authority.extensions.get_extension_for_class(x509.KeyUsage)
    assert (constraints.critical, constraints.value.ca, constraints.value.path_length) == (True, True, 0)
    assert (usage.critical, usage.value.key_cert_sign, usage.value.digital_signature) == (True, True, False)


def test_a_leaf_signs_nothing_and_no_text_shows_a_key() -> None:
    authority = fresh()
    assert not is_signed_by(authority.pairs.served, authority.server)
    assert not is_signed_by(KeyPair("", ""), authority.pairs.served)
    assert "PRIVATE" not in repr(authority)
    assert "PRIVATE" not in repr(client_at(None, authority, now=NOW))
    with pytest.raises(BadCertificate):
        issued(Wanted("x", DAY), now=NOW, by=KeyPair(authority.server.certificate, "no key"))


def test_clocks_that_are_behind_accept_what_was_just_made() -> None:
    assert validity_of(fresh().server).since == NOW - BACKDATED
