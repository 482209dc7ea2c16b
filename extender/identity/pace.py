"""Pace of reviews: how many may begin within a second. No I/O."""

from collections import deque
from collections.abc import Callable

MOST_A_SECOND = 10
RESERVED = 2
"""Of these, for callers that were accepted before: strangers cannot use up all of them."""


class Pace:
    """At most ``most`` reviews in any second, and strangers take at most ``most - reserved`` of them."""

    def __init__(
        self, clock: Callable[[], float], *, most: int = MOST_A_SECOND, reserved: int = RESERVED
    ) -> None:
        self._clock = clock
        self._most = most
        self._reserved = reserved
        self._begun: deque[float] = deque()

    def take(self, reviews: int, *, known: bool) -> bool:
        """Count so many reviews as begun now. False, and none is counted, if they are too many."""
        now = self._clock()
        while self._begun and self._begun[0] <= now - 1.0:
            self._begun.popleft()
        most = self._most if known else self._most - self._reserved
        if len(self._begun) + reviews > most:
            return False
        self._begun.extend([now] * reviews)
        return True
