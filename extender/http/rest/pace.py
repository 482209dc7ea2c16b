"""Pace of work that is not a verb. It runs in short slices, and the event loop serves others in between."""

import asyncio
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")

SLICE = 0.0005
"""Seconds of one slice. A slice ends with a complete step."""

PIECE = 32 * 2**10
"""Least bytes of a piece, except the last one. Each piece is sent by one write."""

ROUNDS = 3
"""Rounds of the event loop between two slices. A waiting verb is read and answered in them."""


async def give_way() -> None:
    """Let the event loop do other work."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


async def in_slices(steps: Iterator[bytes]) -> tuple[bytes, ...]:
    """Run all steps, and return what they wrote in pieces of about `PIECE` bytes."""
    found: list[bytes] = []
    piece = bytearray()
    until = time.perf_counter() + SLICE
    for written in steps:
        piece += written
        if len(piece) >= PIECE:
            found.append(bytes(piece))
            piece.clear()
        if time.perf_counter() >= until:
            await give_way()
            until = time.perf_counter() + SLICE
    if piece:
        found.append(bytes(piece))
    return tuple(found)


async def result_of(steps: Generator[object, None, T]) -> T:
    """Return the result of steps that are done in slices."""
    until = time.perf_counter() + SLICE
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if time.perf_counter() >= until:
            await give_way()
            until = time.perf_counter() + SLICE
