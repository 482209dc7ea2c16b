"""The body of one request, which the connection writes and the intake reads."""

import asyncio
from collections.abc import Callable

HIGH = 2**16
"""Most bytes that may wait to be read. Beyond them the connection stops receiving."""


class BrokenOff(OSError):
    """The connection ended within a body."""


class Content:
    """Body of a request. ``pause(paused)``: makes the connection stop or resume receiving."""

    __slots__ = ("_ended", "_error", "_held", "_paused", "_pieces", "_wakes", "pause")

    def __init__(self, pause: Callable[[bool], None]) -> None:
        self.pause = pause
        self._pieces: list[bytes] = []
        self._held = 0
        self._paused = self._ended = False
        self._error: Exception | None = None
        self._wakes: asyncio.Future[None] | None = None

    @property
    def is_complete(self) -> bool:
        """True if the last byte has arrived."""
        return self._ended

    @property
    def held(self) -> int:
        """Bytes that wait to be read."""
        return self._held

    def feed(self, piece: bytes) -> None:
        """Add bytes that have arrived."""
        self._pieces.append(piece)
        self._held += len(piece)
        if self._held > HIGH and not self._paused:
            self._paused = True
            self.pause(True)
        self._wake()

    def end(self) -> None:
        """Note that all bytes have arrived."""
        self._ended = True
        self._wake()

    def fail(self, error: Exception) -> None:
        """Note that no more bytes will arrive although some are missing."""
        self._error = error
        self._wake()

    def take(self) -> bytes:
        """Take the bytes that have arrived."""
        found = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused:
            self._paused = False
            self.pause(False)
        return found

    async def readany(self) -> bytes:
        """Wait for bytes; empty at the end. Raises what `fail` was given."""
        while not self._pieces:
            if self._ended:
                return b""
            if self._error is not None:
                raise self._error
            self._wakes = asyncio.get_running_loop().create_future()
            try:
                await self._wakes
            finally:
                self._wakes = None
        return self.take()

    def _wake(self) -> None:
        if self._wakes is not None and not self._wakes.done():
            self._wakes.set_result(None)
