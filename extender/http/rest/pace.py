"""Pace of work that is not a verb: it runs in short slices, with other work of the event loop in between."""

import asyncio
import time
from collections.abc import Iterator

SLICE = 0.0005
"""Seconds of one slice. A slice ends with a complete step."""

ROUNDS = 3
"""Rounds of the event loop between two slices. In these, a waiting verb is read and answered."""


async def give_way() -> None:
    """Let the event loop do other work."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


async def in_slices(steps: Iterator[bytes]) -> tuple[bytes, ...]:
    """Run all steps in slices, and return their pieces without the empty ones."""
    found: list[bytes] = []
    until = time.perf_counter() + SLICE
    for piece in steps:
        if piece:
            found.append(piece)
        if time.perf_counter() >= until:
            await give_way()
            until = time.perf_counter() + SLICE
    return tuple(found)
