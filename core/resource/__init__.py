"""Amounts of named resources, and the operations on them (RES-3.3).

``Resource``: an immutable vector in which an absent name is **zero**. ``Tally``: a counter of such amounts
that changes in place. ``Limit``: caps, in which an absent name is **unlimited**.

A limit or guarantee that is not set ("nil" in the specification) is ``None`` at its owner. For headroom and
caps, ``None`` and ``UNLIMITED`` mean the same. Where they differ, the operators take ``None``: `undefined`
makes new values, and `comparisons` answers yes or no.
"""

from core.resource.amounts import ZERO, Amounts, Counted, Resource
from core.resource.comparisons import (
    at_least,
    equals,
    equals_or_empty,
    is_empty,
    is_zero,
    more_of,
    shares_type,
    strictly_more,
    strictly_more_of_known,
    strictly_positive,
    usage_percent,
    within,
)
from core.resource.limit import UNLIMITED, Limit, first_excess
from core.resource.tally import Tally
from core.resource.undefined import largest, minus_known, plus_known, tightest, tightest_of_known

__all__ = [
    "UNLIMITED",
    "ZERO",
    "Amounts",
    "Counted",
    "Limit",
    "Resource",
    "Tally",
    "at_least",
    "equals",
    "equals_or_empty",
    "first_excess",
    "is_empty",
    "is_zero",
    "largest",
    "minus_known",
    "more_of",
    "plus_known",
    "shares_type",
    "strictly_more",
    "strictly_more_of_known",
    "strictly_positive",
    "tightest",
    "tightest_of_known",
    "usage_percent",
    "within",
]
