"""Limit on the number of reviews within a second. No I/O."""

from collections import deque
from collections.abc import Callable

MOST_A_SECOND = 10
RESERVED = 2
"""Reviews among these for callers that were accepted before, so strangers cannot use up all of them."""


class Pace:
    """Limit of ``most`` reviews in any second. Strangers get at most ``most - reserved`` of them."""

    def __init__(
        self, clock: Callable[[], float], *, most: int = MOST_A_SECOND, reserved: int = RESERVED
    ) -> None:
        self._clock = clock
        self._most = most
        self._reserved = reserved
        self._begun: deque[float] = deque()

    def take(self, reviews: int, *, known: bool) -> bool:
        """Count reviews that begin now. Returns False, and counts none, if they exceed the limit."""
        now = self._clock()
        while self._begun and self._begun[0] <= now - 1.0:
            self._begun.popleft()
        most = self._most if known else self._most - self._reserved
        if len(self._begun) + reviews > most:
            return False
        self._begun.extend([now] * reviews)
        return True
