"""Operators of RES-3.3 that make a new value from operands which may be undefined (``None``).

Undefined is not empty: a limit that is not set has no types to add to or subtract from, and stays unset.
"""

from core.resource.amounts import ZERO, Counted, Resource
from core.resource.limit import Limit


def tightest(left: Limit | None, right: Limit | None) -> Limit | None:
    """CWMIN: `Limit.tightest`.

    An undefined side gives way to the other, and both undefined stay undefined.
    """
    if left is None or right is None:
        return right if left is None else left
    return left.tightest(right)


def tightest_of_known(left: Limit | None, right: Limit | None) -> Limit | None:
    """CWMIN-OnlyExisting: `Limit.tightest_of_known`.

    Returns ``left`` unchanged if either side is undefined.
    """
    return left if left is None or right is None else left.tightest_of_known(right)


def plus_known(base: Limit | None, more: Counted | None) -> Limit | None:
    """AddOnlyExisting: `Limit.plus`.

    An undefined base stays undefined, and an undefined addend is nothing.
    """
    return base if base is None or more is None else base.plus(more)


def minus_known(base: Limit | None, used: Counted | None) -> Limit | None:
    """SubOnlyExisting: `Limit.minus`. An undefined base stays undefined, and undefined usage is nothing."""
    return base if base is None or used is None else base.minus(used)


def largest(left: Resource | None, right: Counted | None) -> Resource:
    """CWMAX: `Resource.largest`. Empty if either side is undefined."""
    return ZERO if left is None or right is None else left.largest(right)
