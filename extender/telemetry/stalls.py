"""Delay of the event loop: while it works on one thing, every call waits (F-17)."""

import asyncio
from collections.abc import Callable

APART = 0.05
"""Seconds between two looks."""


async def watch_stalls(note: Callable[[float], None]) -> None:
    """Tell ``note`` again and again by how many seconds the loop was late to wake this task."""
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + APART
        await asyncio.sleep(APART)
        note(max(0.0, clock() - due))
