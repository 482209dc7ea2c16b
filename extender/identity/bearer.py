"""Bearer tokens out of the headers of a request. No I/O."""

import re
from collections.abc import Sequence

from extender.identity.refusals import NotAuthenticated

# The b64token of RFC 6750; whatever else a header holds costs no review.
_BEARER = re.compile(r"bearer +([-A-Za-z0-9._~+/]+=*)", re.IGNORECASE)


def bearer_token_from(authorization: Sequence[str]) -> str:
    """The one token in a request's Authorization headers. Raises `NotAuthenticated` without it."""
    if len(authorization) != 1:
        raise NotAuthenticated
    found = _BEARER.fullmatch(authorization[0].strip(" "))
    if found is None:
        raise NotAuthenticated
    return found[1]
