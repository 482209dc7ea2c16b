"""Spans of time that are remembered, and how fine each is. Time is counted in ticks of 15 seconds."""

from typing import Final, NamedTuple

TICK: Final = 15
"""Seconds of one tick. Tick n begins n times that many seconds after 1970."""

SPANS: Final = (240, 1440, 5760)
"""Length of each span in ticks: an hour, six hours and a day."""

DAY: Final = SPANS[-1]


class Plan(NamedTuple):
    """Ticks between two samples of each span."""

    hour: int
    six_hours: int
    day: int

    def slots(self) -> int:
        """Return the number of samples of one series, with one more for each span."""
        return sum(span // every + 1 for span, every in zip(SPANS, self, strict=True))


PLANS: Final = (
    Plan(1, 4, 20),
    Plan(1, 4, 40),
    Plan(1, 4, 80),
    Plan(1, 4, 160),
    Plan(1, 8, 160),
    Plan(1, 16, 160),
    Plan(2, 16, 160),
    Plan(4, 16, 160),
)
"""Plans from the finest to the coarsest. Each doubles the step of one span of the plan before it."""

FINEST: Final = PLANS[0]


def tick_of(now: float) -> int:
    """Return the tick of a time in seconds since 1970."""
    return int(now // TICK)
