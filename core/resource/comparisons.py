"""Comparisons of one or two sets of amounts (RES-3.3), and the percentage of a cap that is used.

Every argument may be a resource, a tally or a limit, or ``None`` for undefined. Each function says how it
reads an absent name.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from core.resource.amounts import Amounts

_LARGEST_PERCENT: Final = 2**31 - 1


def equals(left: Amounts | None, right: Amounts | None) -> bool:
    """Equals: the same amounts, an absent name being 0. Undefined equals undefined only."""
    if left is None or right is None:
        return left is right
    return all(mine == theirs for mine, theirs in _pairs(left, right))


def equals_or_empty(left: Amounts | None, right: Amounts | None) -> bool:
    """EqualsOrEmpty: like `equals`, but undefined, empty and all-zero are the same."""
    return all(mine == theirs for mine, theirs in _pairs(left, right))


def is_empty(amounts: Amounts | None) -> bool:
    """IsEmpty: undefined, or no name present."""
    return not amounts


def is_zero(amounts: Amounts | None) -> bool:
    """IsZero: undefined, empty, or nothing but zeros."""
    return amounts is None or not any(amount for _, amount in amounts.items())


def at_least(left: Amounts | None, right: Amounts | None) -> bool:
    """StrictlyGreaterThanOrEquals, `ge_all`: no amount is smaller on the left. Absent and undefined are 0."""
    return all(mine >= theirs for mine, theirs in _pairs(left, right))


def strictly_more(left: Amounts | None, right: Amounts | None) -> bool:
    """StrictlyGreaterThan, `gt_any`: like `at_least`, and at least one amount differs."""
    return more_of(left.by_name() if left is not None else {}, right.by_name() if right is not None else {})


def more_of(mine: Mapping[str, int], others: Mapping[str, int]) -> bool:
    """`strictly_more` for plain amounts by name."""
    more = False
    for name, amount in mine.items():
        theirs = others.get(name, 0)
        if amount < theirs:
            return False
        more = more or amount > theirs
    for name, theirs in others.items():
        if theirs and name not in mine:
            if theirs > 0:
                return False
            more = True
    return more


def strictly_positive(amounts: Amounts | None) -> bool:
    """StrictlyGreaterThanZero, `pos`: nothing is negative and something is above zero."""
    return strictly_more(amounts, None)


def within(cap: Amounts | None, used: Amounts | None) -> bool:
    """StrictlyGreaterThanOrEquals-OnlyExisting, `within`: no amount used exceeds the same name in ``cap``.

    Names that only ``used`` has are ignored. Without a common name the answer is yes. An undefined or empty
    ``cap`` holds nothing. If nothing is used, every amount of ``cap`` must be positive.
    """
    if not cap or not used:
        return _all_positive(cap)
    return all(limit >= amount for limit, amount in _shared(cap, used))


def strictly_more_of_known(left: Amounts | None, right: Amounts | None) -> bool:
    """StrictlyGreaterThan-OnlyExisting, `more_known`: like `within`, and a common amount differs."""
    if not left or not right:
        return _all_positive(left)
    common = list(_shared(left, right))
    return not common or (all(a >= b for a, b in common) and any(a != b for a, b in common))


def shares_type(left: Amounts | None, right: Amounts | None) -> bool:
    """MatchAny: at least one name is present on both sides."""
    return left is not None and right is not None and any(name in right for name in left.names())


def usage_percent(cap: Amounts | None, used: Amounts | None) -> dict[str, int]:
    """Percentage of ``cap`` that is used, rounded down, for every name in both. At most 2^31 - 1.

    Nothing used is 0 percent of any cap. Anything used is 100 percent of a cap of zero or less.
    """
    if not cap or not used:
        return {}
    amounts = dict(used.items())
    return {name: _percent(limit, amounts[name]) for name, limit in cap.items() if name in amounts}


def _percent(cap: int, used: int) -> int:
    if used <= 0:
        return 0
    return 100 if cap <= 0 else min(100 * used // cap, _LARGEST_PERCENT)


def _pairs(left: Amounts | None, right: Amounts | None) -> Iterator[tuple[int, int]]:
    """Both amounts of every name present on either side, an absent one as 0."""
    mine = dict(left.items()) if left is not None else {}
    others = dict(right.items()) if right is not None else {}
    for name in mine.keys() | others.keys():
        yield mine.get(name, 0), others.get(name, 0)


def _shared(left: Amounts, right: Amounts) -> Iterator[tuple[int, int]]:
    """Both amounts of every name present on both sides."""
    others = dict(right.items())
    for name, amount in left.items():
        if name in others:
            yield amount, others[name]


def _all_positive(amounts: Amounts | None) -> bool:
    return amounts is not None and bool(amounts) and all(amount > 0 for _, amount in amounts.items())
