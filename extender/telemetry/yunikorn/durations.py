"""Text of histograms of durations, and their buckets."""

from extender.telemetry.counts import Durations
from extender.telemetry.lines import Family, heading

BOUNDS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Bounds of buckets in seconds. The names say milliseconds, but the published dashboards expect seconds."""

_WRITTEN = (*map("{:g}".format, BOUNDS), "+Inf")


def samples(durations: Durations, name: str, label: str = "") -> str:
    """Lines of a histogram with `BOUNDS`. ``label``: ``key="value"``, or empty."""
    lines, total = [], 0
    for bound, count in zip(_WRITTEN, durations.counts, strict=True):
        total += count
        lines.append(f'{name}_bucket{{{label}{"," if label else ""}le="{bound}"}} {total}\n')
    inside = f"{{{label}}}" if label else ""
    return "".join(lines) + f"{name}_sum{inside} {durations.total}\n{name}_count{inside} {total}\n"


def histogram(family: Family, durations: Durations) -> str:
    """Text of a family without labels."""
    return heading(family) + samples(durations, family.name)
