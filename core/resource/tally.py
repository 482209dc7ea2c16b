"""`Tally`: a running sum of resources that changes in place. Its owner decides what may be added."""

from collections.abc import Mapping

from core.resource.amounts import Counted, Resource


class Tally(Counted):
    """Mutable counter of amounts, for what a queue or node has allocated, reserved or pending (QUO-2).

    An absent name is zero, and a zero is never stored. So tallies of one history are equal in any order. Sums
    do not saturate, because a huge pod could then not be subtracted exactly. Reading saturates.
    """

    __slots__ = ()

    def __init__(self, amounts: Mapping[str, int] | Counted | None = None) -> None:
        self._amounts = {name: amount for name, amount in (amounts or {}).items() if amount}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self._amounts == other._amounts

    def add(self, size: Counted) -> None:
        """Count ``size`` in."""
        mine = self._amounts
        for name, amount in size._amounts.items():
            if total := mine.get(name, 0) + amount:
                mine[name] = total
            else:
                mine.pop(name, None)

    def subtract(self, size: Counted) -> tuple[str, ...]:
        """Count ``size`` out. An amount that would go below zero stops there.

        Returns the names stopped that way, in the order of ``size``; empty if all of it was there. An owner
        that must refuse such a release as a whole (QUO-10) asks `shortfall` on every level first.
        """
        mine = self._amounts
        stopped: tuple[str, ...] = ()
        for name, amount in size._amounts.items():
            if (left := mine.get(name, 0) - amount) > 0:
                mine[name] = left
                continue
            mine.pop(name, None)
            if left:
                stopped += (name,)
        return stopped

    def shortfall(self, size: Counted) -> tuple[str, ...]:
        """Names of which ``size`` has more than is counted, in its order. Changes nothing."""
        mine = self._amounts
        return tuple(name for name, amount in size._amounts.items() if amount > mine.get(name, 0))

    def clear(self) -> None:
        """Count everything out."""
        self._amounts.clear()

    def copy(self) -> "Tally":
        """Copy with the same amounts that changes by itself."""
        return Tally(self)

    def as_resource(self) -> Resource:
        """Amounts as they are now, each saturated at 64 bits."""
        return Resource(self._amounts)
