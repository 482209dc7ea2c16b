"""A pending request: how long its quota is held for it, and its place among pending asks."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from core.ids import PodUid

Rank = tuple[int, float, int, PodUid]
"""Order of asks: higher priority, older, seen earlier. The uid makes it unique (REQ-1, REQ-2)."""


@dataclass(init=False, slots=True)
class Reservation:
    """Quota held from the filter answer until the pod is bound (DESIGN-3).

    ``left``: seconds until it expires. ``running_since``: time since which they run down, or None while they
    stand still. ``version``: resourceVersion of the pod that filter was asked about.
    """

    left: Final[float]
    running_since: Final[float | None]
    version: Final[int]

    def __init__(self, left: float, running_since: float | None, version: int) -> None:
        self.left = left
        self.running_since = running_since
        self.version = version

    def left_at(self, now: float) -> float:
        """Seconds that are left at a moment."""
        if self.running_since is None:
            return self.left
        return self.left - max(0.0, now - self.running_since)

    @property
    def ends(self) -> float | None:
        """Time at which it ends, or None while its time stands still."""
        return None if self.running_since is None else self.running_since + self.left

    def running(self, runs: bool, *, now: float) -> "Reservation":
        """Return the same reservation with its time running or standing still from ``now`` on."""
        if runs == (self.running_since is not None):
            return self
        return Reservation(self.left_at(now), now if runs else None, self.version)

    def cut_to(self, seconds: float, *, now: float) -> "Reservation":
        """Return the same reservation with at most ``seconds`` left."""
        left = min(self.left_at(now), seconds)
        return Reservation(left, None if self.running_since is None else now, self.version)


class Waiting:
    """Asks of one size in rank order. Adding and removing cost O(log n) comparisons."""

    __slots__ = ("_ranks",)

    def __init__(self) -> None:
        self._ranks: list[Rank] = []

    def __iter__(self) -> Iterator[Rank]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def first(self) -> Rank:
        """Best rank. Raises IndexError if no ask waits."""
        return self._ranks[0]

    def after(self, rank: Rank) -> Rank | None:
        """Next rank behind ``rank``, which itself need not wait any more. None for none."""
        at = bisect_right(self._ranks, rank)
        return self._ranks[at] if at < len(self._ranks) else None

    def before(self, rank: Rank) -> int:
        """Number of asks that rank before ``rank``, which itself need not wait here."""
        return bisect_left(self._ranks, rank)

    def __contains__(self, rank: Rank) -> bool:
        at = bisect_left(self._ranks, rank)
        return at < len(self._ranks) and self._ranks[at] == rank

    def add(self, rank: Rank) -> None:
        """Add an ask."""
        insort(self._ranks, rank)

    def copy(self) -> "Waiting":
        """Return a copy. Cost: O(asks), small."""
        made = Waiting()
        made._ranks = self._ranks.copy()
        return made

    def remove(self, rank: Rank) -> None:
        """Remove an ask. Raises KeyError if it does not wait here."""
        at = bisect_left(self._ranks, rank)
        if at == len(self._ranks) or self._ranks[at] != rank:
            raise KeyError(rank)
        del self._ranks[at]
