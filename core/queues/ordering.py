"""Which child queue goes first (SORT-0 to SORT-3). Pure comparisons; who takes part is not asked here."""

from collections.abc import Iterable
from typing import NamedTuple

from core.ids import QueuePath
from core.resource import Resource, strictly_more

Key = tuple[float, float]


class Contender(NamedTuple):
    """One child as it stands. ``key``: see `order_key`; ``pending``: what it asks for.

    Most ties are between queues that ask for the same: they are told soonest where that is one object.
    """

    path: QueuePath
    key: Key
    pending: Resource


def order_key(priority: int, share: float, *, by_priority: bool) -> Key:
    """The lower goes first (SORT-1, SORT-2). ``priority``: exported (PRI-4); ``share``: SORT-3.

    ``by_priority``: ``application.sort.priority`` of the parent; without it priority breaks ties of shares.
    """
    return (-priority, share) if by_priority else (share, -priority)


def first_of(contenders: Iterable[Contender]) -> Contender | None:
    """The one that goes first of contenders in the order of their names; None of none.

    Of equals, one that asks for at least as much of everything and more of something goes before the other;
    two of which neither does so keep the order of their names.
    """
    open_ones = list(contenders)
    if not open_ones:
        return None
    lowest = min([each.key for each in open_ones])
    equals = [each for each in open_ones if each.key == lowest]
    first = equals[0]
    for contender in equals[1:]:
        if contender.pending is not first.pending and goes_before(contender, first):
            first = contender
    return first


def goes_before(one: Contender, other: Contender) -> bool:
    """Whether one is to be taken rather than the other; a strict order, names left out."""
    if one.key != other.key:
        return one.key < other.key
    return strictly_more(one.pending, other.pending)
