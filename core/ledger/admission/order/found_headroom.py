"""Headroom for each size in demand, as a scheduling cycle has found it (CYC-4)."""

from collections.abc import Mapping, Sequence

from core.ids import QueuePath
from core.queues.headroom import shortfall
from core.queues.queue import Queue
from core.resource import Resource, Tally


class FoundHeadroom:
    """Queues with and without headroom for a size. Other changes are seen when an ask is checked.

    A queue without headroom has none until the cycle ends. A queue with headroom has it until a turn is
    given.
    """

    __slots__ = ("_full", "_open")

    def __init__(self) -> None:
        self._full: dict[Resource, set[QueuePath]] = {}
        self._open: dict[Resource, set[QueuePath]] = {}

    def lacks(self, chain: Sequence[Queue], size: Resource, given: Mapping[QueuePath, Tally]) -> bool:
        """True if a leaf or a queue above it has no headroom for a size. ``given``: turns, by queue.

        ``chain``: from the leaf up. Cost: O(1) if known, else O(depth).
        """
        is_open = self._open.get(size)
        if is_open is not None and chain[0].path in is_open:
            return False
        full = self._full.get(size)
        if full is not None:
            for each in chain:
                if each.path in full:
                    return True
        short = shortfall(chain, size, extra=given)
        if short is None:
            self._open.setdefault(size, set()).add(chain[0].path)
        else:
            self._full.setdefault(size, set()).add(short.queue.path)
        return short is not None

    def note_turn(self) -> None:
        """Forget which queues have headroom, because a turn takes some of it."""
        self._open.clear()
