"""Rotation of the served pair. No I/O.

Clients must trust a certificate before it is served. So a new one is published first and served an hour
later. The former certificate stays trusted until the next one is made.
"""

import base64
import binascii
from collections.abc import Collection, Mapping
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
    """Pairs of a Secret. ``served``: used by listeners; ``trusted``: PEM of all certificates to trust."""

    served: KeyPair
    trusted: str
    next: KeyPair | None = None


def pairs_from(data: Mapping[str, str]) -> ServingPairs | None:
    """Return the pairs in a Secret's data; None if the served pair cannot be read."""
    try:
        texts = {name: base64.b64decode(value, validate=True).decode() for name, value in data.items()}
    except (binascii.Error, UnicodeError, ValueError):
        return None
    served, following = _pair(texts, _SERVED), _pair(texts, _NEXT)
    if served is None or _validity(served) is None:
        return None
    # Without the list of trusted certificates, the served one is trusted.
    trusted = texts.get(_TRUSTED) or served.certificate
    return ServingPairs(served, trusted, following if following and _validity(following) else None)


def data_of(pairs: ServingPairs) -> dict[str, str]:
    """Return the data for a Secret."""
    texts = {_TRUSTED: pairs.trusted, **_texts(_SERVED, pairs.served)}
    if pairs.next is not None:
        texts |= _texts(_NEXT, pairs.next)
    return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def advanced(pairs: ServingPairs | None, names: Collection[str], *, now: float) -> ServingPairs:
    """Return the pairs that are right for now, or the same object if nothing is due.

    ``now``: seconds since 1970.
    """
    validity = _validity(pairs.served) if pairs else None
    if pairs is None or validity is None or not validity.since <= now < validity.until:
        fresh = self_signed(names, now=now)
        return ServingPairs(fresh, fresh.certificate)
    following = _validity(pairs.next) if pairs.next else None
    if pairs.next is not None and following is not None:
        waited = now >= following.since + BACKDATED + PUBLISHED_FOR
        return replace(pairs, served=pairs.next, next=None) if waited else pairs
    if _is_due(validity, names, now=now):
        return _staged(pairs, names, now=now)
    return pairs


def _is_due(validity: Validity, names: Collection[str], *, now: float) -> bool:
    fits = validity.calls and set(names) <= validity.names
    return not fits or now >= validity.since + RENEWED_AT * validity.lifetime


def _staged(pairs: ServingPairs, names: Collection[str], *, now: float) -> ServingPairs:
    """Return pairs with a new successor, which is published from now on."""
    fresh = self_signed(names, now=now)
    return ServingPairs(pairs.served, pairs.served.certificate + fresh.certificate, fresh)


def _validity(pair: KeyPair) -> Validity | None:
    try:
        return validity_of(pair)
    except BadCertificate:
        return None


def _pair(texts: Mapping[str, str], keys: tuple[str, str]) -> KeyPair | None:
    certificate, key = (texts.get(name, "") for name in keys)
    return KeyPair(certificate, key) if certificate and key else None


def _texts(keys: tuple[str, str], pair: KeyPair) -> dict[str, str]:
    return {keys[0]: pair.certificate, keys[1]: pair.key}
