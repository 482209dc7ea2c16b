"""Counts that the library gets with the next scrape, since adding them one by one costs more."""

import time
from collections.abc import Callable

from prometheus_client import Counter


class Counts:
    """Counts of a family with two labels. Memory: one number for each pair of values."""

    def __init__(self, family: Counter) -> None:
        self._family = family
        self._new: dict[tuple[str, str], int] = {}

    def count(self, first: str, second: str) -> None:
        """Count one under the values of the labels. From the first on, the family has a sample for them."""
        known = self._new.get((first, second))
        if known is None:
            self._family.labels(first, second)
            known = 0
        self._new[first, second] = known + 1

    def pass_on(self) -> None:
        """Add to the family what was counted since the last call."""
        for (first, second), count in self._new.items():
            self._family.labels(first, second).inc(count)
            self._new[first, second] = 0


class Durations:
    """Histogram of durations. ``bounds``: upper bounds of the buckets in seconds, ascending.

    ``counts``: observations by bucket, the last one without a bound. ``total``: sum of all, in seconds.
    """

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration. One that equals a bound is within it."""
        # Most are within the first bounds. Compiled, this search calls no function.
        at, bounds = 0, self._bounds
        while at < len(bounds) and bounds[at] < seconds:
            at += 1
        self.counts[at] += 1
        self.total += seconds


class CallSeconds:
    """Durations of calls by verb. ``bounds``: see `Durations`."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.by_verb: dict[str, Durations] = {}
        #: When each verb was first called, in seconds since the epoch.
        self.created: dict[str, float] = {}

    def observe(self, verb: str, seconds: float) -> None:
        """Count a call."""
        found = self.by_verb.get(verb)
        if found is None:
            found = self.by_verb[verb] = Durations(self.bounds)
            self.created[verb] = time.time()
        found.observe(seconds)

    def measure(self, on_fault: Callable[[str, str], None]) -> Callable[[str, float, str], None]:
        """Function that is to be called after each call with its verb, its duration and its fault, or empty.

        ``on_fault(verb, fault)``: called for a call that failed.
        """

        def measured(verb: str, seconds: float, fault: str) -> None:
            self.observe(verb, seconds)
            if fault:
                on_fault(verb, fault)

        return measured
