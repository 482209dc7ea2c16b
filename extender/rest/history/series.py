"""Past of one resource of one queue, at three steps."""

from typing import Final

from extender.rest.history.band import WIDTH, Band, Packed
from extender.rest.history.spans import SPANS, Plan

OVERHEAD: Final = 1100
"""Bytes of a series beside its arrays: objects, names and places in tables, rounded up."""

_PER_SLOT: Final = 8 * WIDTH
# An array has a head, and reserves a sixteenth and up to seven items more than it holds.
_SPARE: Final = 16
_ARRAY: Final = 80 + 8 * 7


def full_size(plan: Plan) -> int:
    """Most bytes of one series by a plan."""
    stored = plan.slots() * _PER_SLOT
    return OVERHEAD + stored + stored // _SPARE + len(SPANS) * _ARRAY


class Series:
    """Samples of one resource of one queue."""

    __slots__ = ("bands", "named", "seen")

    def __init__(self, plan: Plan, tick: int) -> None:
        self.bands = tuple(Band(every, span // every + 1) for span, every in zip(SPANS, plan, strict=True))
        #: Tick of the newest sample.
        self.seen = tick
        #: Newest tick at which the queue had or limited some of the resource.
        self.named = tick

    @property
    def size(self) -> int:
        """Bytes, with everything that belongs to it."""
        return OVERHEAD + sum(band.size for band in self.bands)

    @property
    def empty(self) -> bool:
        """True if no sample is left."""
        return not any(band.samples for band in self.bands)

    def put(self, tick: int, sample: Packed) -> None:
        """Store a sample in the spans whose step it meets."""
        for band in self.bands:
            band.put(tick, sample)
        self.seen = tick

    def rewind(self, tick: int) -> None:
        """Drop everything after a tick."""
        for band in self.bands:
            band.rewind(tick)
        self.seen, self.named = min(self.seen, tick), min(self.named, tick)

    def expire(self, tick: int) -> None:
        """Drop what is too old at a tick."""
        for band in self.bands:
            band.expire(tick)

    def change(self, plan: Plan) -> None:
        """Change the steps to those of a plan."""
        for band, every in zip(self.bands, plan, strict=True):
            band.change(every)
