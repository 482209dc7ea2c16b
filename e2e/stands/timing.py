"""Figures of tests: always printed, and held to a bound by `make bench`, where nothing else runs.

Tests assert on any machine what must come about. How soon is for a benchmark.
"""

import os

HELD = "PADDOCK_E2E_TIMED"
"""True in the benchmark `promptness`, which runs the tests marked `timed`."""


def took(what: str, seconds: float, *, at_most: float) -> None:
    """Print how long something took. In the benchmark it may take no longer than the bound."""
    print(f"{what}: {seconds:.3f} s, wanted within {at_most:g} s")
    if os.environ.get(HELD):
        assert seconds <= at_most, what
