"""Order of child queues (SORT-0 to SORT-3). Pure comparisons between the given contenders."""

from collections.abc import Iterable
from typing import NamedTuple

from core.ids import QueuePath
from core.resource import Resource, strictly_more

Key = tuple[float, float]


class Contender(NamedTuple):
    """A child queue as it is compared. ``key``: see `order_key`. ``pending``: its demand.

    Most ties are between queues with the same demand. They compare fastest if it is one object.
    """

    path: QueuePath
    key: Key
    pending: Resource


def order_key(priority: int, share: float, *, by_priority: bool) -> Key:
    """Sort key of a child, the lower first (SORT-1, SORT-2). ``priority``: exported (PRI-4).

    ``share``: SORT-3.

    ``by_priority``: ``application.sort.priority`` of the parent. Without it, priority only breaks ties of
    shares.
    """
    return (-priority, share) if by_priority else (share, -priority)


def first_of(contenders: Iterable[Contender]) -> Contender | None:
    """First of the contenders, which are in the order of their names. None without any.

    Of two equals, a contender goes first if it demands at least as much of everything and more of something.
    Otherwise the order of names decides.
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
    """True if ``one`` is taken before ``other``. A strict order, names left out."""
    if one.key != other.key:
        return one.key < other.key
    return strictly_more(one.pending, other.pending)
