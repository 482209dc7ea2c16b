"""The clocks of the host: one for the ledger, and one for leases."""

import time
from collections.abc import Callable


def steady_clock() -> Callable[[], float]:
    """Seconds since the epoch that never go back, whatever happens to the wall clock."""
    offset = time.time() - time.monotonic()
    return lambda: time.monotonic() + offset


def clock_of_host() -> float:
    """Seconds of a clock that goes on while the process is stopped, and where there is one, the host."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
