"""Delays of the event loop. While it is busy, every call waits (F-17)."""

import asyncio
from collections.abc import Callable

APART = 0.05
"""Seconds between two measurements."""


async def watch_stalls(note: Callable[[float], None]) -> None:
    """Measure until cancelled. ``note(seconds)``: called with the delay of each wake-up."""
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + APART
        await asyncio.sleep(APART)
        note(max(0.0, clock() - due))
