"""Clock of the host for Leases, and calls after a time."""

import asyncio
import time
from collections.abc import Callable


def clock_of_host() -> float:
    """Seconds of a clock that also runs while the process is stopped or, if possible, the host suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def call_later(seconds: float, call: Callable[[], None]) -> object:
    """Call back on the running event loop after some seconds."""
    return asyncio.get_running_loop().call_later(seconds, call)


async def every(seconds: float, call: Callable[[], None]) -> None:
    """Call again and again, with pauses of some seconds, until cancelled."""
    while True:
        await asyncio.sleep(seconds)
        call()
