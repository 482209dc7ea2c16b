"""Texts of metrics for scrapes, built in slices and compressed in a thread, so that calls never wait."""

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable

SLICE = 0.0005
"""Seconds of a slice of work on the event loop."""

PAUSE = 0.001
"""Seconds between two slices. Endless scrapes thus take a third of the event loop at most."""

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1


class Exposition:
    """Text of metrics that is built on request. ``pieces()``: yields its parts.

    The text for a request is always begun after the request, so it is never older. Concurrent requests share
    texts, and at most two are built for them.
    """

    def __init__(
        self,
        pieces: Callable[[], Iterable[bytes]],
        *,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._pieces = pieces
        self._clock = clock
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._begun = float("-inf")
        self._built: list[bytes] = []
        self._packed: bytes | None = None

    async def text(self, *, gzipped: bool) -> bytes:
        """Build the text. Cost: slices of `SLICE` on the event loop. Compression runs in a thread."""
        asked = self._clock()
        async with self._lock:
            if self._begun <= asked:
                await self._build()
            if not gzipped:
                return b"".join(self._built)
            if self._packed is None:
                self._packed = await asyncio.to_thread(packed, self._built)
            return self._packed

    async def _build(self) -> None:
        begun = self._clock()
        built, until = [], begun + SLICE
        for piece in self._pieces():
            if piece:
                built.append(piece)
            if self._clock() >= until:
                await self._sleep(PAUSE)
                until = self._clock() + SLICE
        self._begun, self._built, self._packed = begun, built, None


def packed(pieces: Iterable[bytes]) -> bytes:
    """Compress pieces into a single gzip member."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return b"".join([*map(packer.compress, pieces), packer.flush()])
