"""Histograms of durations as plain numbers, so that an observation costs less than a microsecond."""

from typing import Final

from extender.telemetry.counts import bucket_of
from extender.telemetry.lines import Family, heading

BOUNDS: Final = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""Bounds of buckets in seconds. The names say milliseconds, but the published dashboards expect seconds."""


class Durations:
    """Observed seconds by bucket."""

    __slots__ = ("_counts", "_sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration. Cost: below a microsecond."""
        self._counts[bucket_of(BOUNDS, seconds)] += 1
        self._sum += seconds

    def samples(self, name: str, label: str = "") -> str:
        """Lines of a histogram. ``label``: ``key="value"``, or empty."""
        lines, total = [], 0
        for bound, count in zip([*map("{:g}".format, BOUNDS), "+Inf"], self._counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{{label}{"," if label else ""}le="{bound}"}} {total}\n')
        inside = f"{{{label}}}" if label else ""
        return "".join(lines) + f"{name}_sum{inside} {self._sum}\n{name}_count{inside} {total}\n"


def histogram(family: Family, durations: Durations) -> str:
    """Text of a family without labels."""
    return heading(family) + durations.samples(family.name)
