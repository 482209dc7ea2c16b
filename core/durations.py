"""Durations as Go writes and reads them, in seconds here. Text in and out, nothing else."""

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_UNIT = "ns|us|µs|μs|ms|s|m|h"
_DURATION = re.compile(rf"(?:{_NUMBER}(?:{_UNIT}))+", re.ASCII)
_PART = re.compile(rf"({_NUMBER})({_UNIT})", re.ASCII)
_LONGEST = 100
"""Characters: longer ones overflow, or say nothing more; and the pattern's cost stays bounded."""

_MOST = 2**63 / 1e9


def seconds_of(text: str) -> float:
    """A Go duration such as ``1m30s`` or ``-1.5h`` in seconds. Raises ValueError."""
    if text in ("0", "+0", "-0"):
        return 0.0
    sign, digits = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    if len(text) > _LONGEST or not _DURATION.fullmatch(digits):
        raise ValueError("must be a duration such as 30s, 500ms or 1m30s")
    seconds = sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(digits))
    if seconds >= _MOST:
        raise ValueError("is longer than a duration can be")
    return sign * seconds


def duration_text(seconds: float) -> str:
    """As Go prints it: ``30s``, ``1m30s``, ``1h0m0s``, ``1.5s``, ``250ms``, ``0s``."""
    nanoseconds = round(abs(seconds) * 1e9)
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
