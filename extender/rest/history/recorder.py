"""Recording of samples: one moment of all queues for each tick."""

from collections.abc import Callable, Iterator

from core.ledger.view import LedgerView
from extender.rest.history.past import Past
from extender.rest.history.rows import MOST_QUEUES, MomentRows
from extender.rest.history.spans import DAY, TICK, tick_of

LATE = 0.01
"""Seconds of a tick after which its sample is taken, since a timer may end a little early."""


class Recorder:
    """Recorder of a store. ``bound()``: the most memory in bytes; 0 for no past.

    ``clock()``: the ledger's.
    """

    def __init__(
        self, view: Callable[[], LedgerView], *, clock: Callable[[], float], bound: Callable[[], int]
    ) -> None:
        self._view = view
        self._clock = clock
        self._bound = bound
        self._rows = MomentRows()
        self.past = Past()
        #: Grows with each sample and each loss.
        self.version = 0

    def wait(self) -> float:
        """Return the seconds until the next tick begins."""
        now = self._clock()
        return (tick_of(now) + 1) * TICK - now + LATE

    def sample(self) -> Iterator[bytes]:
        """Take a sample in steps, each of which yields an empty piece. All amounts are of one moment."""
        bound = self._bound()
        if bound <= 0:
            self.forget()
            return
        for _ in self._rows.freshen(self._view(), bound=bound):
            yield b""
        tick, tree = tick_of(self._clock()), self._view().tree
        rows = self._rows.taken(self._view(), bound=bound)
        for _ in self.past.record(tick, rows, bound=bound, left_out=max(0, len(tree) - MOST_QUEUES)):
            yield b""
        self.version += 1

    def pause(self) -> None:
        """Take no sample at this tick. What is a day old is dropped."""
        if 0 < self.past.last < tick_of(self._clock()) - DAY:
            self.forget()

    def forget(self) -> None:
        """Drop everything."""
        self.version += 1
        self._rows.clear()
        self.past.clear()
