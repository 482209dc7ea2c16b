"""Comparison of moments, which are seconds since the epoch as floats.

Such a float is exact to a fraction of a microsecond only. ``start + 30.0`` may differ by a hair from a clock
that shows exactly 30 seconds later. A moment therefore counts as reached one microsecond early.
"""

import re
from math import ceil

GRAIN = 1e-6


def has_come(moment: float, *, now: float) -> bool:
    """True if a moment is reached."""
    return now >= moment - GRAIN


def earliest(first: float | None, second: float | None) -> float | None:
    """Earlier of two moments. None means never."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


_RFC3339 = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,9})?Z")
_DAYS_OF_ERA = 146_097
"""Days of 400 years, after which the calendar repeats."""

_DAYS_BEFORE_1970 = 719_468
"""Days from the first of March of the year 0, where leap days come last in a year."""


def rfc3339(seconds: float) -> str:
    """Text of a moment in UTC, rounded up to a millisecond, such as ``2026-01-01T00:00:00.000Z``."""
    days, milliseconds = divmod(ceil(seconds * 1000), 86_400_000)
    era, day_of_era = divmod(days + _DAYS_BEFORE_1970, _DAYS_OF_ERA)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day + 2) // 153
    date = (
        f"{era * 400 + year + (month > 9):04}-{(month + 2) % 12 + 1:02}-{day - (153 * month + 2) // 5 + 1:02}"
    )
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{date}T{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}.{rest % 1000:03}Z"


def seconds_of_rfc3339(text: str) -> float | None:
    """Moment that such a text names, in seconds. None for any other text, and for other zones than UTC."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        return None
    era, rest = divmod(year - (month < 3), 400)
    days = era * _DAYS_OF_ERA + rest * 365 + rest // 4 - rest // 100 + (153 * ((month + 9) % 12) + 2) // 5
    whole = ((days + day - 1 - _DAYS_BEFORE_1970) * 24 + hour) * 3600 + minute * 60 + second
    return whole + float(found[7] or "0")
