"""When a certificate gets a successor, when that serves, and what clients trust meanwhile."""

import pytest

from extender.certificates.issuing import LIFETIME, validity_of
from extender.certificates.rotation import (
    PUBLISHED_FOR,
    RENEWED_AT,
    ServingPairs,
    advanced,
    data_of,
    pairs_from,
)

NAMES = ("localhost", "paddock.default.svc")
NOW = 1_800_000_000.0
DUE = NOW + LIFETIME * RENEWED_AT


def fresh() -> ServingPairs:
    return advanced(None, NAMES, now=NOW)


def test_without_any_a_certificate_is_made_and_trusted() -> None:
    pairs = fresh()
    assert pairs.trusted == pairs.served.certificate
    assert pairs.next is None


@pytest.mark.parametrize("now", [NOW, NOW + LIFETIME / 2, NOW - 60])
def test_a_certificate_in_its_prime_stays(now: float) -> None:
    pairs = fresh()
    assert advanced(pairs, NAMES, now=now) is pairs


def test_a_successor_is_trusted_for_an_hour_before_it_serves() -> None:
    before = fresh()
    staged = advanced(before, NAMES, now=DUE)
    assert staged.served == before.served
    assert staged.next is not None
    assert staged.trusted == before.served.certificate + staged.next.certificate
    assert advanced(staged, NAMES, now=DUE + PUBLISHED_FOR - 1) is staged
    after = advanced(staged, NAMES, now=DUE + PUBLISHED_FOR)
    assert (after.served, after.next) == (staged.next, None)
    # Instances that have not read it yet show the former one.
    assert after.trusted == staged.trusted


def test_the_second_rotation_trusts_the_first_certificate_no_more() -> None:
    first = fresh()
    second = advanced(advanced(first, NAMES, now=DUE), NAMES, now=DUE + PUBLISHED_FOR)
    third = advanced(second, NAMES, now=DUE + LIFETIME * RENEWED_AT)
    assert third.served == second.served
    assert first.served.certificate not in third.trusted


def test_a_certificate_without_a_name_that_is_needed_gets_a_successor_with_it() -> None:
    staged = advanced(fresh(), (*NAMES, "paddock.example"), now=NOW)
    assert staged.next is not None
    assert "paddock.example" in validity_of(staged.next).names


def test_a_certificate_whose_time_is_over_is_replaced_at_once() -> None:
    before = fresh()
    after = advanced(before, NAMES, now=NOW + LIFETIME)
    assert after.served != before.served
    assert after.trusted == after.served.certificate


def test_a_secret_gives_back_what_was_put_in() -> None:
    for pairs in (fresh(), advanced(fresh(), NAMES, now=DUE)):
        assert pairs_from(data_of(pairs)) == pairs


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"tls.crt": "%%%", "tls.key": "%%%"},
        {"tls.crt": "/w==", "tls.key": "/w=="},
        {**data_of(fresh()), "tls.key": data_of(fresh())["tls.key"]},
    ],
    ids=["empty", "no base64", "no text", "key of another"],
)
def test_a_secret_that_cannot_be_read_holds_nothing(data: dict[str, str]) -> None:
    assert pairs_from(data) is None


def test_a_successor_that_cannot_be_read_is_made_anew() -> None:
    staged = advanced(fresh(), NAMES, now=DUE)
    damaged = pairs_from({**data_of(staged), "next.key": data_of(fresh())["tls.key"]})
    assert damaged is not None
    assert (damaged.served, damaged.next) == (staged.served, None)


def test_a_served_certificate_is_trusted_without_a_list() -> None:
    pairs = fresh()
    data = data_of(pairs)
    del data["ca.crt"]
    assert pairs_from(data) == pairs
