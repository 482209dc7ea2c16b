"""Amounts of named resources, and what can be asked of them (RES-3.3).

``Resource``: an immutable vector, an absent name is **zero**. ``Tally``: a counter of such amounts, changed
in place. ``Limit``: caps, an absent name is **unlimited**.

A limit or guarantee nobody set ("nil" in the specification) is ``None`` at its owner. For room and caps the
difference between ``None`` and ``UNLIMITED`` does not show; the operators where it does take ``None``:
see ``undefined`` (they make new values) and ``comparisons`` (they answer yes or no).
"""

from core.resource.amounts import ZERO, Amounts, Counted, Resource
from core.resource.comparisons import (
    at_least,
    equals,
    equals_or_empty,
    is_empty,
    is_zero,
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
