"""Figures that tests come by: printed always, and held to a bound by `make bench`, where nothing else runs.

What must come about is asserted by the tests themselves, on any machine; how soon is a benchmark's affair.
"""

import os

HELD = "PADDOCK_E2E_TIMED"
"""Set by the benchmark `promptness`, which runs the tests marked `timed`."""


def took(what: str, seconds: float, *, at_most: float) -> None:
    """Print how long something took; in the benchmark it may take no longer."""
    print(f"{what}: {seconds:.3f} s, wanted within {at_most:g} s")
    if os.environ.get(HELD):
        assert seconds <= at_most, what
