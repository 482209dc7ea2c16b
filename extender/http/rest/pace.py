"""Pace of work that answers nobody's verb: short slices, and between two of them the loop does other work."""

import asyncio
import time
from collections.abc import Iterator

SLICE = 0.0005
"""Seconds of one slice; a step that has begun is ended."""

ROUNDS = 3
"""Rounds of the loop between two slices: a verb that came meanwhile is read and answered in these."""


async def give_way() -> None:
    """Let the loop do whatever else there is to do."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


async def in_slices(steps: Iterator[bytes]) -> tuple[bytes, ...]:
    """Everything that steps write, but for empty pieces."""
    found: list[bytes] = []
    until = time.perf_counter() + SLICE
    for piece in steps:
        if piece:
            found.append(piece)
        if time.perf_counter() >= until:
            await give_way()
            until = time.perf_counter() + SLICE
    return tuple(found)
