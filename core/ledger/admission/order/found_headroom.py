"""Headroom for each size in demand, as a scheduling cycle has found it (CYC-4)."""

from collections.abc import Collection, Mapping

from core.ids import QueuePath
from core.queues.headroom import shortfall
from core.queues.queue import Queue
from core.resource import Resource, Tally

_NO_PATHS: Collection[QueuePath] = frozenset()


class FoundHeadroom:
    """Queues with and without headroom for a size. Other changes are seen when an ask is checked.

    A queue without headroom has none until the cycle ends. A queue with headroom has it until a turn is
    given.
    """

    __slots__ = ("_full", "_open")

    def __init__(self) -> None:
        self._full: dict[Resource, set[QueuePath]] = {}
        self._open: dict[Resource, set[QueuePath]] = {}

    def lacks(self, queue: Queue, size: Resource, given: Mapping[QueuePath, Tally]) -> bool:
        """True if a leaf or a queue above it has no headroom for a size. ``given``: turns, by queue.

        Cost: O(1) if known, else O(depth).
        """
        if queue.path in self._open.get(size, _NO_PATHS):
            return False
        full = self._full.get(size)
        if full is not None:
            for each in queue.chain:
                if each.path in full:
                    return True
        short = shortfall(queue.chain, size, extra=given)
        if short is None:
            self._open.setdefault(size, set()).add(queue.path)
        else:
            self._full.setdefault(size, set()).add(short.queue.path)
        return short is not None

    def note_turn(self) -> None:
        """Forget which queues have headroom, because a turn takes some of it."""
        self._open.clear()
