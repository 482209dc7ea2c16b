"""Bodies of large answers. At most two are made at once. A body is reused while nothing changes (REST-45)."""

import asyncio
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from extender.http.rest.pace import in_slices, release
from extender.rest.routes.reply import Big

AT_ONCE = 2
"""Number of large answers that are made concurrently."""

WAIT = 5.0
"""Seconds for which a request waits for its turn."""

STORED = 6
"""Number of stored bodies."""

SMALL = 32 * 2**10
"""Largest body, in bytes, that is not stored, and that is sent and compressed in one step."""

PACKED_AT_ONCE = 8 * 2**10
"""Bytes that are compressed in one step."""

_GZIP = zlib.MAX_WBITS | 16


class Crowded(Exception):
    """Refusal because too many large answers are being made."""


@dataclass(frozen=True, slots=True)
class Body:
    """An encoded answer. ``small``: one piece, not compressed and not stored.

    ``pieces``: a reader must copy the list at once, as the store empties it once the answer is stale.
    """

    pieces: list[bytes]
    version: int
    small: bool


class Bodies:
    """Bodies by request. ``version()``: a number that changes when an answer may have changed."""

    def __init__(self, version: Callable[[], int], *, wait: float = WAIT) -> None:
        self._version = version
        self._wait = wait
        self._turns, self._turns_alone = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(1)
        self._stored: OrderedDict[tuple[str, bool], Body] = OrderedDict()
        #: Number of answers that are being made.
        self.making = 0

    async def body_of(self, key: str, answer: Big, *, packed: bool) -> Body:
        """Return the body of a request. A small one is not compressed. Raises `Crowded`."""
        turns = self._turns_alone if answer.alone else self._turns
        try:
            async with asyncio.timeout(self._wait):
                await turns.acquire()
        except TimeoutError:
            raise Crowded from None
        self.making += 1
        try:
            return await self._made(key, answer, packed=packed)
        finally:
            self.making -= 1
            turns.release()

    def forget(self) -> None:
        """Drop all bodies."""
        while self._stored:
            release(self._stored.popitem()[1].pieces)

    async def _made(self, key: str, answer: Big, *, packed: bool) -> Body:
        found = self._stored.get((key, packed))
        if found is not None and found.version == self._version():
            return found
        self._drop((key, packed))
        if packed:
            plain = await self._made(key, answer, packed=False)
            if plain.small:
                return plain
            body = Body(await in_slices(packing(plain.pieces.copy())), plain.version, small=False)
        else:
            version = self._version()
            pieces = await in_slices(answer.steps())
            small = sum(map(len, pieces)) <= SMALL
            body = Body([b"".join(pieces)] if small else pieces, version, small)
        return body if body.small or answer.alone else self._store((key, packed), body)

    def _store(self, key: tuple[str, bool], made: Body) -> Body:
        self._drop(key)
        self._stored[key] = made
        while len(self._stored) > STORED:
            self._drop(next(iter(self._stored)))
        return made

    def _drop(self, key: tuple[str, bool]) -> None:
        """Drop a body, if it is stored. Readers that have begun with it have its pieces."""
        dropped = self._stored.pop(key, None)
        if dropped is not None:
            release(dropped.pieces)


def packing(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Compress pieces as one gzip stream."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        for start in range(0, len(piece), PACKED_AT_ONCE):
            yield packer.compress(piece[start : start + PACKED_AT_ONCE])
    yield packer.flush()
