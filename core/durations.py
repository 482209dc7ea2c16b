"""Durations as Go writes and reads them, in seconds here. Text in and out, nothing else."""

import re

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_UNIT = "ns|us|µs|μs|ms|s|m|h"
_DURATION = re.compile(rf"(?:{_NUMBER}(?:{_UNIT}))+")
_PART = re.compile(rf"([0-9]*)\.?([0-9]*)({_UNIT})")
_LONGEST = 100
"""Characters of the longest duration that is read. The bound keeps the cost of the pattern small."""

_MOST = 2**63 - 1
_FRACTION_DIGITS = 18
"""Digits after a point that can count; with more, Go's own arithmetic drops the rest."""


def nanoseconds_of(text: str) -> int:
    """A Go duration such as ``1m30s`` in whole nanoseconds, cut towards 0. Raises ValueError."""
    if text in ("0", "+0", "-0"):
        return 0
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if len(text) > _LONGEST or not _DURATION.fullmatch(digits):
        raise ValueError("must be a duration such as 30s, 500ms or 1m30s")
    nanoseconds = sum(_part(*part) for part in _PART.findall(digits))
    if nanoseconds > _MOST + (sign < 0):
        raise ValueError("is longer than a duration can be")
    return sign * nanoseconds


def _part(whole: str, fraction: str, unit: str) -> int:
    size, fraction = _NANOSECONDS[unit], fraction[:_FRACTION_DIGITS]
    # A fraction is multiplied in 64-bit floats, as Go does, so that both cut off the same.
    return int(whole or "0") * size + int(float(fraction or "0") * (size / 10.0 ** len(fraction)))


def seconds_of(text: str) -> float:
    """Seconds of a Go duration, from `nanoseconds_of`. Below a nanosecond it is 0 (C7). Raises ValueError."""
    return nanoseconds_of(text) / 1e9


def duration_text(seconds: float) -> str:
    """Text of a duration as Go prints it: ``30s``, ``1m30s``, ``1h0m0s``, ``1.5s``, ``250ms``, ``0s``."""
    nanoseconds = min(round(abs(seconds) * 1e9), _MOST)
    sign = "-" if seconds < 0 and nanoseconds else ""
    if nanoseconds == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if nanoseconds < size * 1000:
            return f"{sign}{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    front = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{front}{_decimal(rest, 1_000_000_000)}s"


def _decimal(amount: int, size: int) -> str:
    whole, rest = divmod(amount, size)
    digits = f"{rest:0{len(str(size)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
