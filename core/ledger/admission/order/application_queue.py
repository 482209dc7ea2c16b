"""Asks of one application as a cycle takes them: a queue of lines, one for each kind of ask."""

from collections.abc import Container
from heapq import heapify, heappop, heappush

from core.ids import AppId, PodUid
from core.workload.ask import Rank, Waiting
from core.workload.pending_index import Kind

_PASSED_AT_ONCE = 8


class Line:
    """Equal asks of one application. If one does not fit, none behind it does."""

    __slots__ = ("_waiting", "head", "kind")

    def __init__(self, kind: Kind, waiting: Waiting) -> None:
        self.kind = kind
        self.head: Rank = waiting.first()
        self._waiting = waiting

    def __lt__(self, other: "Line") -> bool:
        return self.head < other.head

    def __len__(self) -> int:
        """Number of asks from the head on."""
        return len(self._waiting) - self._waiting.before(self.head)

    def before(self, rank: Rank) -> int:
        """Number of asks from the head on that rank before another one."""
        return max(0, self._waiting.before(rank) - self._waiting.before(self.head))

    def advance(self) -> bool:
        """Go on to the next ask. False if there is none."""
        following = self._waiting.after(self.head)
        if following is None:
            return False
        self.head = following
        return True


class ApplicationQueue:
    """Asks of one application in their order (REQ-1).

    ``unplaced``: lines without a node for any ask. ``reserved``: number of skipped asks with a reserved node
    that lacks capacity. ``filed``: number of the valid place in the leaf's order, since a moved application
    leaves its former places behind.
    """

    __slots__ = ("app_id", "filed", "lines", "reserved", "unplaced")

    def __init__(self, app_id: AppId, lines: list[Line]) -> None:
        self.app_id = app_id
        self.lines = lines
        self.unplaced: list[Line] = []
        self.reserved = 0
        self.filed = 0
        heapify(self.lines)

    def first(self) -> Line | None:
        """Line whose head is the best ask, or None."""
        return self.lines[0] if self.lines else None

    def advance(self) -> None:
        """Skip the head of the first line."""
        line = heappop(self.lines)
        if line.advance():
            heappush(self.lines, line)

    def passes(self, turns: Container[PodUid]) -> bool:
        """Skip some asks that have a turn. True if there was one. A burst has many of them."""
        for number in range(_PASSED_AT_ONCE):
            if not self.lines or self.lines[0].head[-1] not in turns:
                return number > 0
            self.advance()
        return True

    def drop(self) -> None:
        """Drop the first line, whose asks do not fit."""
        heappop(self.lines)

    def drop_unplaced(self) -> None:
        """Drop the first line, whose asks no node takes."""
        self.unplaced.append(heappop(self.lines))

    def are_unplaced(self, threshold: int, *, before: Rank) -> bool:
        """True if at least ``threshold`` asks before one have found no node. Each line has at least one."""
        threshold -= self.reserved
        unplaced = self.unplaced
        return len(unplaced) >= threshold or sum(each.before(before) for each in unplaced) >= threshold

    def more_are_unplaced(self, threshold: int) -> bool:
        """True if more asks than the threshold have found no node."""
        return self.reserved + sum(map(len, self.unplaced)) > threshold
