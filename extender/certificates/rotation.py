"""Rotation of the served pair. No I/O.

Clients must trust a certificate before it is served. So a new one is published first and served an hour
later. The former certificate stays trusted until the next one is made.
"""

import base64
import binascii
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from extender.certificates.issuing import (
    BACKDATED,
    BadCertificate,
    KeyPair,
    Validity,
    self_signed,
    validity_of,
)

RENEWED_AT = 2 / 3
"""Fraction of its lifetime after which a certificate gets a successor."""

PUBLISHED_FOR = 3_600
"""Seconds for which a successor is published before it is served."""

_SERVED, _NEXT = ("tls.crt", "tls.key"), ("next.crt", "next.key")
_TRUSTED = "ca.crt"


@dataclass(frozen=True, slots=True)
class ServingPairs:
    """Pairs of a Secret. ``served``: the pair in use; ``trusted``: PEM of all certificates to trust."""

    served: KeyPair
    trusted: str
    next: KeyPair | None = None


def pairs_from(data: Mapping[str, str]) -> ServingPairs | None:
    """Return the pairs in a Secret's data; None if the served pair cannot be read."""
    served, following = pair_in(data, _SERVED), pair_in(data, _NEXT)
    if served is None or _validity(served) is None:
        return None
    # Without the list of trusted certificates, the served one is trusted.
    trusted = _text(data, _TRUSTED) or served.certificate
    return ServingPairs(served, trusted, following if following and _validity(following) else None)


def pair_in(data: Mapping[str, str], keys: tuple[str, str]) -> KeyPair | None:
    """Return the pair under two keys of a Secret's data; None if a part is missing or no text."""
    certificate, key = (_text(data, name) for name in keys)
    return KeyPair(certificate, key) if certificate and key else None


def data_of(pairs: ServingPairs) -> dict[str, str]:
    """Return the data for a Secret."""
    following = texts_of(_NEXT, pairs.next) if pairs.next is not None else {}
    return {_TRUSTED: _encoded(pairs.trusted), **texts_of(_SERVED, pairs.served), **following}


def texts_of(keys: tuple[str, str], pair: KeyPair) -> dict[str, str]:
    """Return a pair as data of a Secret under two keys."""
    return {keys[0]: _encoded(pair.certificate), keys[1]: _encoded(pair.key)}


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a pair gets a successor, and when that is used.

    ``make(now)``: makes a pair; ``fits``: false for one that needs a successor at once.
    ``renewed_at``: fraction of its lifetime; ``published_for``: seconds.
    """

    make: Callable[[float], KeyPair]
    fits: Callable[[Validity], bool]
    renewed_at: float
    published_for: float

    def is_due(self, validity: Validity, *, now: float) -> bool:
        """True if a pair needs a successor."""
        return not self.fits(validity) or now >= validity.since + self.renewed_at * validity.lifetime


def advanced(pairs: ServingPairs | None, names: Collection[str], *, now: float) -> ServingPairs:
    """Return the serving pairs that are right for now, or the same object if nothing is due.

    ``now``: seconds since 1970.
    """
    schedule = Schedule(
        lambda at: self_signed(names, now=at),
        lambda validity: validity.calls and set(names) <= validity.names,
        RENEWED_AT,
        PUBLISHED_FOR,
    )
    return rotated(pairs, schedule, now=now)


def rotated(pairs: ServingPairs | None, schedule: Schedule, *, now: float) -> ServingPairs:
    """Return the pairs that a schedule wants now, or the same object if nothing is due."""
    validity = current_validity(pairs.served, now=now) if pairs else None
    if pairs is None or validity is None:
        fresh = schedule.make(now)
        return ServingPairs(fresh, fresh.certificate)
    following = _validity(pairs.next) if pairs.next else None
    if pairs.next is not None and following is not None:
        waited = now >= following.since + BACKDATED + schedule.published_for
        return replace(pairs, served=pairs.next, next=None) if waited else pairs
    if schedule.is_due(validity, now=now):
        fresh = schedule.make(now)
        return ServingPairs(pairs.served, pairs.served.certificate + fresh.certificate, fresh)
    return pairs


def current_validity(pair: KeyPair, *, now: float) -> Validity | None:
    """Return a pair's validity; None for one that cannot be read or whose time it is not."""
    validity = _validity(pair)
    return validity if validity and validity.since <= now < validity.until else None


def _validity(pair: KeyPair) -> Validity | None:
    try:
        return validity_of(pair)
    except BadCertificate:
        return None


def _text(data: Mapping[str, str], name: str) -> str:
    """A value of a Secret's data as text, empty if it is missing or none."""
    try:
        return base64.b64decode(data.get(name, ""), validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return ""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
