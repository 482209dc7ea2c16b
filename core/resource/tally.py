"""`Tally`: a running sum of resources that changes in place. Its owner decides what may be added."""

from collections.abc import Mapping

from core.resource.amounts import MEMORY, PODS, VCORE, Counted, Resource, Split, split_of


class Tally(Counted):
    """Mutable counter of amounts, for what a queue or node has allocated, reserved or pending (QUO-2).

    An absent name is zero, and a zero is never stored. So tallies of one history are equal in any order. Sums
    do not saturate, because a huge pod could then not be subtracted exactly. Reading saturates.
    """

    __slots__ = ("_shown", "_sums")

    def __init__(self, amounts: Mapping[str, int] | Counted | None = None) -> None:
        self._sums = amounts.split().copy() if isinstance(amounts, Counted) else split_of(amounts or {})
        #: Amounts by name as they were read last, or None after a change.
        self._shown: dict[str, int] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self.by_name() == other.by_name()

    def by_name(self) -> dict[str, int]:
        """Amounts as they are now, in the order of names. Read only."""
        if self._shown is None:
            self._shown = _named(self._sums)
        return self._shown

    def split(self) -> Split:
        """Amounts, with those that nearly every pod has apart from others. Read only."""
        return self._sums

    def get(self, name: str) -> int:
        """Amount of ``name``, or 0 if it is absent."""
        if name == VCORE:
            return self._sums.vcore
        if name == MEMORY:
            return self._sums.memory
        return self._sums.pods if name == PODS else self._sums.others.get(name, 0)

    def __bool__(self) -> bool:
        """True if anything is counted."""
        sums = self._sums
        return sums.memory != 0 or sums.pods != 0 or sums.vcore != 0 or bool(sums.others)

    def add(self, size: Counted) -> None:
        """Count ``size`` in."""
        sums, more = self._sums, size.split()
        self._shown = None
        sums.memory += more.memory
        sums.pods += more.pods
        sums.vcore += more.vcore
        if more.others:
            _add_others(sums.others, more.others, 1)

    def subtract(self, size: Counted) -> tuple[str, ...]:
        """Count ``size`` out. An amount that would go below zero stops there.

        Returns the names stopped that way, in the order of names; empty if all of it was there. An owner
        that must refuse such a release as a whole (QUO-10) asks `shortfall` on every level first.
        """
        sums, less = self._sums, size.split()
        memory, pods, vcore = sums.memory - less.memory, sums.pods - less.pods, sums.vcore - less.vcore
        self._shown = None
        if memory < 0 or pods < 0 or vcore < 0 or (less.others and self._lacks_others(less)):
            return self._subtract_each(size)
        sums.memory, sums.pods, sums.vcore = memory, pods, vcore
        if less.others:
            _add_others(sums.others, less.others, -1)
        return ()

    def _lacks_others(self, less: Split) -> bool:
        mine = self._sums.others
        return any(mine.get(name, 0) < amount for name, amount in less.others.items())

    def _subtract_each(self, size: Counted) -> tuple[str, ...]:
        mine = self.by_name().copy()
        stopped: tuple[str, ...] = ()
        for name, amount in size.items():
            if (left := mine.get(name, 0) - amount) < 0:
                stopped += (name,)
            mine[name] = max(0, left)
        self._sums, self._shown = split_of(mine), None
        return stopped

    def shortfall(self, size: Counted) -> tuple[str, ...]:
        """Names of which ``size`` has more than is counted, in its order. Changes nothing."""
        return tuple(name for name, amount in size.items() if amount > self.get(name))

    def clear(self) -> None:
        """Count everything out."""
        self._sums, self._shown = split_of({}), None

    def copy(self) -> "Tally":
        """Copy with the same amounts that changes by itself."""
        return Tally(self)

    def plus(self, size: Counted) -> "Tally":
        """Copy with ``size`` counted in."""
        sums = self.copy()
        sums.add(size)
        return sums

    def as_resource(self) -> Resource:
        """Amounts as they are now, each saturated at 64 bits."""
        return Resource(self.by_name())


def _add_others(mine: dict[str, int], more: Mapping[str, int], sign: int) -> None:
    for name, amount in more.items():
        if total := mine.get(name, 0) + sign * amount:
            mine[name] = total
        else:
            mine.pop(name, None)


def _named(sums: Split) -> dict[str, int]:
    """Amounts by name, in order, without zeros."""
    found = dict(sums.others)
    if sums.memory:
        found[MEMORY] = sums.memory
    if sums.pods:
        found[PODS] = sums.pods
    if sums.vcore:
        found[VCORE] = sums.vcore
    return dict(sorted(found.items())) if sums.others else found
