"""Comparison of moments, which are seconds since the epoch as floats.

Such a float is exact to a fraction of a microsecond only. ``start + 30.0`` may differ by a hair from a clock
that shows exactly 30 seconds later. A moment therefore counts as reached one microsecond early.
"""

GRAIN = 1e-6


def has_come(moment: float, *, now: float) -> bool:
    """True if a moment is reached."""
    return now >= moment - GRAIN


def earliest(first: float | None, second: float | None) -> float | None:
    """Earlier of two moments. None means never."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
