"""Bearer tokens in the headers of a request. No I/O."""

import re
from collections.abc import Sequence

from extender.identity.refusals import NotAuthenticated

# The b64token of RFC 6750. Any other value is refused without a review.
_BEARER = re.compile(r"bearer +([-A-Za-z0-9._~+/]+=*)", re.IGNORECASE)


def bearer_token_from(authorization: Sequence[str]) -> str:
    """Return the token of a request. Raises `NotAuthenticated` unless there is exactly one."""
    if len(authorization) != 1:
        raise NotAuthenticated
    found = _BEARER.fullmatch(authorization[0].strip(" "))
    if found is None:
        raise NotAuthenticated
    return found[1]
