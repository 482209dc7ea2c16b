"""Pace of work that is not a verb. It runs in short slices, and the event loop serves others in between.

All such work of a process takes turns, so that no two slices run in the same round of the event loop.
"""

import asyncio
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")

SLICE = 0.00025
"""Seconds of one slice. A slice ends with a complete step."""

PIECE = 32 * 2**10
"""Least bytes of a piece, except the last one. Each piece is sent by one write."""

ROUNDS = 3
"""Rounds of the event loop between two slices. A waiting verb is read and answered in them."""

FREED_AT_ONCE = 4
"""Pieces of a body that are freed in one round."""


class _Turns:
    """Turns on one event loop, in the order of the requests for them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._lock = asyncio.Lock()

    async def take(self) -> None:
        """Wait for a turn. The next one begins `ROUNDS` rounds later."""
        await self._lock.acquire()
        self._end_after(ROUNDS)

    def _end_after(self, rounds: int) -> None:
        if rounds:
            self.loop.call_soon(self._end_after, rounds - 1)
        else:
            self._lock.release()


_END = object()

_turns: list[_Turns] = []
"""Turns on the running loop. A process has one loop at a time."""


async def give_way() -> None:
    """Let the event loop do other work. A slice may run until the next call of an awaitable."""
    loop = asyncio.get_running_loop()
    if not _turns or _turns[0].loop is not loop:
        _turns[:] = [_Turns(loop)]
    await _turns[0].take()


async def in_slices(steps: Iterator[bytes]) -> list[bytes]:
    """Run all steps, and return what they wrote in pieces of about `PIECE` bytes."""
    found: list[bytes] = []
    piece = bytearray()
    await give_way()
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
    return found


async def result_of(steps: Generator[object, None, T]) -> T:
    """Return the result of steps that are done in slices."""
    try:
        await give_way()
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
    finally:
        # A caller may be cancelled meanwhile. Compiled steps clean up only if they are closed.
        steps.close()


def in_rounds(steps: Iterator[object]) -> None:
    """Perform steps, one in each round of the running loop. The first is performed at once.

    A thread without a loop, such as that of the demo's day, performs all of them at once.
    """
    while next(steps, _END) is not _END:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            continue
        loop.call_soon(in_rounds, steps)
        return


def release(pieces: list[bytes]) -> None:
    """Take the pieces of a body from a list, some in each round. To free all at once takes a millisecond."""
    in_rounds(_freed(pieces))


def _freed(pieces: list[bytes]) -> Iterator[None]:
    while pieces:
        del pieces[-FREED_AT_ONCE:]
        yield
