"""Pace of work that is not a verb: it runs in short slices, with other work of the event loop in between."""

import asyncio
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")

SLICE = 0.0005
"""Seconds of one slice. A slice ends with a complete step."""

PIECE = 32 * 2**10
"""Bytes from which a piece is a whole one. Each is written between two slices."""

ROUNDS = 3
"""Rounds of the event loop between two slices. In these, a waiting verb is read and answered."""


async def give_way() -> None:
    """Let the event loop do other work."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


async def in_slices(steps: Iterator[bytes]) -> tuple[bytes, ...]:
    """Everything that steps write, in pieces of some `PIECE` bytes."""
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
