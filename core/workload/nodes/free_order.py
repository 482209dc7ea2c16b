"""Nodes in the order of their free ``vcore`` and then of names, brought up to date when it is read."""

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import Final

from core.ids import NodeName

FIRST: Final = "vcore"
"""Resource by which nodes are ordered."""

FEW: Final = 10
"""Fraction of nodes, as one in so many, up to which they are moved one by one. Beyond it a full pass is
cheaper."""

AWAITED: Final = 256
"""Changed nodes, at most, that are not moved yet, unless a full pass is quick. It bounds the cost of the next
reader."""

QUICK: Final = 2_000
"""Nodes up to which a full pass takes less than a millisecond, so that any number of them may wait for it."""


class FreeOrder:
    """Order of the nodes of ``free``, which has their free amounts and belongs to the caller.

    Most changes have no reader, since nothing is searched for where nothing waits. So a change costs a note,
    and reading costs O(log nodes) and a shift for each changed node, or a pass over all nodes. Beyond `QUICK`
    nodes, no more than `AWAITED` changed nodes wait for a reader.
    """

    def __init__(self, free: Mapping[NodeName, Mapping[str, int]]) -> None:
        self._free = free
        self._places: list[tuple[int, NodeName]] = []
        # The amounts under which changed nodes still stand in the order.
        self._awaited: dict[NodeName, int] = {}

    def places(self) -> list[tuple[int, NodeName]]:
        """Amounts and names, in order. Read only."""
        if self._awaited:
            self._move()
        return self._places

    def add(self, name: NodeName) -> None:
        """Add a node that has just become known."""
        insort(self._places, (self._now(name), name))

    def drop(self, name: NodeName, amount: int) -> None:
        """Drop a node that had ``amount`` free."""
        self._take_out(self._awaited.pop(name, amount), name)

    def note_change(self, name: NodeName, before: int) -> None:
        """Note that a node had the amount ``before`` free until now."""
        if name not in self._awaited:
            self._awaited[name] = before
            if len(self._awaited) > AWAITED and len(self._places) > QUICK:
                self._move()

    def has(self, name: NodeName) -> bool:
        """True if a node is at the place of its free amount."""
        places, entry = self.places(), (self._now(name), name)
        at = bisect_left(places, entry)
        return at < len(places) and places[at] == entry

    def copy(self, free: Mapping[NodeName, Mapping[str, int]]) -> "FreeOrder":
        """Copy that changes by itself. ``free``: the amounts of the same nodes, now equal to ours."""
        copy = FreeOrder(free)
        copy._places = list(self.places())
        return copy

    def __len__(self) -> int:
        return len(self._places)

    def _now(self, name: NodeName) -> int:
        free = self._free.get(name)
        return free.get(FIRST, 0) if free is not None else 0

    def _move(self) -> None:
        awaited, self._awaited = self._awaited, {}
        if len(awaited) * FEW > len(self._places):
            left = [place for place in self._places if place[1] not in awaited]
            left.extend([(self._now(name), name) for name in awaited])
            left.sort()
            self._places = left
            return
        for name, before in awaited.items():
            now = self._now(name)
            if now != before:
                self._take_out(before, name)
                insort(self._places, (now, name))

    def _take_out(self, amount: int, name: NodeName) -> None:
        entry = (amount, name)
        at = bisect_left(self._places, entry)
        # Only in a broken order it is elsewhere, which the audit finds.
        if at < len(self._places) and self._places[at] == entry:
            del self._places[at]
