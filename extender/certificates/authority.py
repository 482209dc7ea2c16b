"""Own authority of the verbs' port, with the certificates that it signs for both ends. No I/O.

kube-scheduler reads its certificate and what it trusts only when it starts. So the times are long: a running
kube-scheduler has half a year to restart after its certificate was renewed. A new authority is published for
as long as a client's certificate is valid before it signs, and the former one stays trusted after that.
"""

import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from extender.certificates.issuing import (
    CLIENT,
    LIFETIME,
    SERVER,
    KeyPair,
    Wanted,
    is_signed_by,
    issued,
    validity_of,
)
from extender.certificates.rotation import (
    RENEWED_AT,
    Schedule,
    ServingPairs,
    current_validity,
    data_of,
    pair_in,
    pairs_from,
    rotated,
    texts_of,
)

YEAR = 365 * 86_400
AUTHORITY_LIFETIME = 5 * YEAR
CLIENT_LIFETIME = YEAR

AUTHORITY_RENEWED_AT = 1 / 2
"""Fraction of its lifetime after which an authority gets a successor."""

AUTHORITY_PUBLISHED_FOR = float(CLIENT_LIFETIME)
"""Seconds for which clients are told to trust a successor before it signs."""

CLIENT_RENEWED_AT = 1 / 2
"""Fraction of its lifetime after which the client's certificate is renewed."""

_NAME, _SCHEDULER = "paddock-authority", "kube-scheduler"
_SERVER_FILES = ("server.crt", "server.key")


@dataclass(frozen=True, slots=True)
class Authority:
    """Contents of the authority's Secret. ``pairs``: the authority that signs, and its successor.

    ``server``: the pair of the verbs' port; both parts are empty before it was made.
    """

    pairs: ServingPairs
    server: KeyPair


def authority_from(data: Mapping[str, str]) -> Authority | None:
    """Return what a Secret's data contains; None if the authority cannot be read."""
    pairs = pairs_from(data)
    # An authority names no host.
    if pairs is None or validity_of(pairs.served).names:
        return None
    return Authority(pairs, pair_in(data, _SERVER_FILES) or KeyPair("", ""))


def data_of_authority(authority: Authority) -> dict[str, str]:
    """Return the data for a Secret."""
    return {**data_of(authority.pairs), **texts_of(_SERVER_FILES, authority.server)}


def authority_at(before: Authority | None, names: Collection[str], *, now: float) -> Authority:
    """Return the authority that is right for now, or the same object if nothing is due.

    ``names``: of the verbs' port; ``now``: seconds since 1970.
    """
    schedule = Schedule(
        lambda at: issued(Wanted(_NAME, AUTHORITY_LIFETIME), now=at),
        lambda _: True,
        AUTHORITY_RENEWED_AT,
        AUTHORITY_PUBLISHED_FOR,
    )
    pairs = _with_readable_list(rotated(before.pairs if before else None, schedule, now=now))
    wanted = Wanted(min(names), LIFETIME, frozenset(names), (SERVER,))
    server = _signed(before.server if before else None, wanted, pairs.served, RENEWED_AT, now=now)
    after = Authority(pairs, server)
    return before if before is not None and after == before else after


def client_at(before: ServingPairs | None, authority: Authority, *, now: float) -> ServingPairs:
    """Return the client's pair and what it is to trust, or the same object if nothing is due."""
    wanted = Wanted(_SCHEDULER, CLIENT_LIFETIME, frozenset({_SCHEDULER}), (CLIENT,))
    signer = authority.pairs.served
    pair = _signed(before.served if before else None, wanted, signer, CLIENT_RENEWED_AT, now=now)
    after = ServingPairs(pair, authority.pairs.trusted)
    return before if before is not None and after == before else after


def _signed(
    before: KeyPair | None, wanted: Wanted, authority: KeyPair, renewed_at: float, *, now: float
) -> KeyPair:
    """Return a pair in its prime that the authority has signed, if possible the one before."""
    validity = current_validity(before, now=now) if before else None
    if before is None or validity is None or not wanted.names <= validity.names:
        return issued(wanted, now=now, by=authority)
    is_due = now >= validity.since + renewed_at * validity.lifetime
    stays = not is_due and is_signed_by(before, authority)
    return before if stays else issued(wanted, now=now, by=authority)


def _with_readable_list(pairs: ServingPairs) -> ServingPairs:
    """Repair a list of trusted certificates that was damaged, so that both ends can load it."""
    own = [each.certificate for each in (pairs.served, pairs.next) if each]
    if all(each in pairs.trusted for each in own) and _is_loadable(pairs.trusted):
        return pairs
    return replace(pairs, trusted="".join(own))


def _is_loadable(trusted: str) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=trusted)
    except (ssl.SSLError, ValueError):
        return False
    return True
