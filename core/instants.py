"""Moments in seconds since the epoch, as floats: when has one come?

Such a float is exact to a fraction of a microsecond only, so that ``start + 30.0`` and a clock that shows
exactly 30 seconds later may differ by a hair. A moment therefore comes a microsecond early.
"""

GRAIN = 1e-6


def has_come(moment: float, *, now: float) -> bool:
    """Whether a moment is reached."""
    return now >= moment - GRAIN


def earliest(first: float | None, second: float | None) -> float | None:
    """The earlier of two moments; None is never."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
