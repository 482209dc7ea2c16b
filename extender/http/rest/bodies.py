"""Bodies of large answers. Two are made concurrently, and each is reused while nothing changes (REST-45)."""

import asyncio
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from extender.http.rest.pace import in_slices

AT_ONCE = 2
"""Large answers that are made concurrently."""

WAIT = 5.0
"""Seconds for which a request waits until its body can be made."""

STORED = 6
"""Number of stored bodies."""

PACKED_AT_ONCE = 16 * 2**10
"""Bytes that are compressed in one step."""

_GZIP = zlib.MAX_WBITS | 16


class Crowded(Exception):
    """Refusal because too many large answers are being made."""


@dataclass(frozen=True, slots=True)
class _Stored:
    version: int
    pieces: tuple[bytes, ...]


class Bodies:
    """Bodies by request. ``version()``: a number that changes when an answer may have changed."""

    def __init__(self, version: Callable[[], int], *, wait: float = WAIT) -> None:
        self._version = version
        self._wait = wait
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._stored: OrderedDict[tuple[str, bool], _Stored] = OrderedDict()

    async def body_of(
        self, key: str, steps: Callable[[], Iterator[bytes]], *, packed: bool
    ) -> Sequence[bytes]:
        """Return the pieces of a body. ``key``: identifies the request. Raises `Crowded`."""
        try:
            async with asyncio.timeout(self._wait):
                await self._turns.acquire()
        except TimeoutError:
            raise Crowded from None
        try:
            return await self._made(key, steps, packed=packed)
        finally:
            self._turns.release()

    def forget(self) -> None:
        """Drop all bodies."""
        self._stored.clear()

    async def _made(
        self, key: str, steps: Callable[[], Iterator[bytes]], *, packed: bool
    ) -> tuple[bytes, ...]:
        found = self._stored.get((key, packed))
        if found is not None and found.version == self._version():
            return found.pieces
        if packed:
            plain = await self._made(key, steps, packed=False)
            version = self._stored[key, False].version
            pieces = await in_slices(packing(plain))
        else:
            version = self._version()
            pieces = await in_slices(steps())
        self._store((key, packed), _Stored(version, pieces))
        return pieces

    def _store(self, key: tuple[str, bool], made: _Stored) -> None:
        self._stored.pop(key, None)
        self._stored[key] = made
        while len(self._stored) > STORED:
            self._stored.popitem(last=False)


def packing(pieces: Sequence[bytes]) -> Iterator[bytes]:
    """Compress pieces as one gzip stream."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        for start in range(0, len(piece), PACKED_AT_ONCE):
            yield packer.compress(piece[start : start + PACKED_AT_ONCE])
    yield packer.flush()
