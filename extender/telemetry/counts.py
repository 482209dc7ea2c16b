"""Counts that a family of the library gets with the next scrape, since adding them one by one costs more."""

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
