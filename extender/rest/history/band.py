"""Samples of one span of one series, in a packed array of 64-bit integers without holes in time.

A sample has four amounts in a row: used, pending, guaranteed and max. Slot n is tick ``n * every``.
"""

from array import array
from sys import getsizeof
from typing import Final, TypeAlias

from core.quantity import INT64_MIN

Packed: TypeAlias = "array[int]"
"""64-bit integers."""

WIDTH: Final = 4
"""Amounts of one sample."""

GAP: Final = INT64_MIN
"""Amount where no sample was taken."""

UNSET: Final = INT64_MIN + 1
"""Limit that is not set. All amounts are above it."""

_GAPS = array("q", [GAP] * WIDTH)


class Band:
    """Newest samples of a series at one step. ``every``: ticks of a slot; ``most``: slots that are stored."""

    __slots__ = ("every", "last", "most", "samples")

    def __init__(self, every: int, most: int) -> None:
        self.every = every
        self.most = most
        #: Slot of the newest sample, if there is one.
        self.last = 0
        self.samples = array("q")

    def __len__(self) -> int:
        """Number of stored slots, with those of gaps."""
        return len(self.samples) // WIDTH

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return getsizeof(self.samples)

    def put(self, tick: int, sample: Packed) -> None:
        """Store a sample. A tick within a slot is skipped, as is one that is not newer than the last."""
        slot, within = divmod(tick, self.every)
        if within:
            return
        missed = slot - self.last - 1 if self.samples else 0
        if missed < 0:
            return
        if missed >= self.most:
            self.samples, missed = array("q"), 0
        self._drop_oldest(len(self) + missed + 1 - self.most)
        if missed:
            self.samples.extend(_GAPS * missed)
        self.samples.extend(sample)
        self.last = slot

    def rewind(self, tick: int) -> None:
        """Drop everything after a tick, because the clock was set back to it."""
        after = self.last - tick // self.every
        if after > 0 and self.samples:
            left = max(0, len(self) - after)
            self.samples = self.samples[: left * WIDTH]
            self.last -= after
            self._drop_last_gaps()

    def expire(self, tick: int) -> None:
        """Drop the array once no sample is young enough, as of a tick."""
        if self.samples and self.last <= tick // self.every - self.most:
            self.samples = array("q")

    def thin(self) -> None:
        """Double the step, and drop every second sample."""
        first = self.last - len(self) + 1
        even = array("q")
        for place in range(first % 2 * WIDTH, len(self.samples), 2 * WIDTH):
            even.extend(self.samples[place : place + WIDTH])
        self.every, self.most = 2 * self.every, (self.most - 1) // 2 + 1
        self.last, self.samples = self.last // 2, even
        self._drop_last_gaps()

    def refine(self) -> None:
        """Halve the step. The slots in between are gaps."""
        fine = array("q")
        for place in range(0, len(self.samples), WIDTH):
            fine.extend(self.samples[place : place + WIDTH])
            fine.extend(_GAPS)
        # The last sample is the newest.
        del fine[len(fine) - WIDTH :]
        self.every, self.most = self.every // 2, (self.most - 1) * 2 + 1
        self.last, self.samples = self.last * 2, fine

    def copied(self) -> "Band":
        """Copy that changes by itself."""
        found = Band(self.every, self.most)
        found.last, found.samples = self.last, self.samples[:]
        return found

    def change(self, every: int) -> None:
        """Change the step, by a power of two."""
        while self.every < every:
            self.thin()
        while self.every > every:
            self.refine()

    def column(self, measure: int, first: int, count: int) -> list[int | None]:
        """Return one amount of ``count`` slots from slot ``first``. None for a gap and an unset limit."""
        oldest = self.last - len(self) + 1
        start, stop = max(first, oldest), min(first + count, self.last + 1)
        if start >= stop:
            return [None] * count
        found = self.samples[(start - oldest) * WIDTH + measure : (stop - oldest) * WIDTH : WIDTH]
        amounts = [each if each > UNSET else None for each in found]
        return [*[None] * (start - first), *amounts, *[None] * (first + count - stop)]

    def _drop_oldest(self, count: int) -> None:
        if count > 0:
            del self.samples[: count * WIDTH]

    def _drop_last_gaps(self) -> None:
        """Let the array end with a sample, so that one without any is empty."""
        while self.samples and self.samples[-WIDTH] == GAP:
            del self.samples[-WIDTH:]
            self.last -= 1
