"""Watches: answers of the API server that are read line by line while they arrive. HTTP/1.1 over httptools.

aiohttp's client takes 60 microseconds of CPU for a line that arrives alone, and this 30.
"""

import asyncio
from functools import partial
from typing import NamedTuple, Protocol, cast
from weakref import WeakSet

import httptools

from extender.kube.connection.api import MalformedAnswer, Unreachable
from extender.kube.connection.channel import MOST_HEADERS, Broken, is_read
from extender.kube.connection.channels import Target, connected, connecting
from extender.kube.connection.lines import Lines

HIGH = 2**18
"""Bytes of lines that may wait to be read. Beyond them the connection stops receiving."""

MOST_REFUSAL = 2**20
"""Bytes of the largest answer that is no stream, such as a refusal."""


class Head(NamedTuple):
    """Status and headers of an answer. Headers that it lacks are empty."""

    status: int
    date: str = ""
    retry_after: str = ""

    @property
    def is_good(self) -> bool:
        """True for any status 2xx."""
        return 200 <= self.status < 300


class Answered(Protocol):
    """An answer that is read while it arrives."""

    @property
    def head(self) -> Head:
        """Status and headers."""
        ...

    async def read(self) -> list[bytes]:
        """Wait for lines. None are left at the end of the answer, where an unfinished one is dropped.

        Raises what ends the stream before that.
        """
        ...

    async def rest(self) -> bytes:
        """Read the whole answer, for a refusal."""
        ...

    def close(self) -> None:
        """Close the connection at once."""
        ...


class Stream(asyncio.Protocol):
    """A connection with one request and its answer.

    ``idle_for``: seconds without a byte after which the stream ends. ``limit``: bytes of the longest line.
    """

    def __init__(self, *, idle_for: float, limit: int) -> None:
        self._idle_for = idle_for
        self._limit = limit
        self._lines = Lines()
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._idle: asyncio.TimerHandle | None = None
        self._heard = self._loop.time()
        self._head: Head | None = None
        self._found: dict[bytes, str] = {}
        self._headers = self._held = 0
        self._whole: list[bytes] = []
        self._ready: list[bytes] = []
        self._ended = self._paused = False
        #: Error that has ended the stream, and its text. A raised exception would refer to this object.
        self._why: tuple[type[Exception], str] | None = None
        self._wakes: asyncio.Future[None] | None = None

    async def ask(self, request: bytes) -> None:
        """Send a request, and wait for the head of the answer. Raises what ends the stream before that."""
        if self._transport is not None:
            self._transport.write(request)
        while self._head is None:
            await self._wait()

    @property
    def head(self) -> Head:
        """Status and headers."""
        assert self._head is not None  # noqa: S101 - asked before
        return self._head

    async def read(self) -> list[bytes]:
        """Wait for lines, as `Answered` says."""
        while not self._ready:
            if self._ended:
                return []
            await self._wait()
        found, self._ready, self._held = self._ready, [], 0
        self._pause(False)
        return found

    async def rest(self) -> bytes:
        """Read the whole answer, for a refusal."""
        while not self._ended:
            await self._wait()
        return b"".join(self._whole)

    def close(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self) -> None:
        """Wait until something has changed. Raises what has ended the stream."""
        if self._why is not None:
            error, text = self._why
            raise error(text)
        self._wakes = self._loop.create_future()
        try:
            await self._wakes
        finally:
            self._wakes = None

    def _wake(self) -> None:
        if self._wakes is not None and not self._wakes.done():
            self._wakes.set_result(None)

    def _fail(self, error: type[Exception], text: str) -> None:
        """End the stream. What has arrived before can still be read."""
        if self._why is None and not self._ended:
            self._why = error, text
        self._wake()
        self.close()

    def _pause(self, paused: bool) -> None:
        if self._transport is None or paused == self._paused or self._transport.is_closing():
            return
        self._paused = paused
        if paused:
            self._transport.pause_reading()
        else:
            self._heard = self._loop.time()
            self._transport.resume_reading()

    def _give_up_if_idle(self) -> None:
        left = self._heard + self._idle_for - self._loop.time()
        if left > 0 or self._paused:
            self._idle = self._loop.call_later(max(left, self._idle_for / 2), self._give_up_if_idle)
        else:
            self._idle = None
            self._fail(TimeoutError, f"no byte in {self._idle_for:g} s")

    # -- as asyncio calls it -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        # uvloop's transports only lack the base class.
        self._transport = cast(asyncio.Transport, transport)
        self._idle = self._loop.call_later(self._idle_for, self._give_up_if_idle)

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived."""
        if self._parser is None or self._why is not None:
            return
        self._heard = self._loop.time()
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(Broken, f"{type(error).__name__}: {error}")
        if self._ready or self._ended:
            self._wake()
        if self._ready and self._held > HIGH:
            self._pause(True)

    def eof_received(self) -> None:
        """Close, as the other end has."""
        self._fail(Broken, "the server closed the connection")

    def connection_lost(self, error: Exception | None) -> None:
        """End the stream, and drop what refers to this object."""
        why = f"{type(error).__name__}: {error}" if error else "the connection was closed"
        self._fail(Broken, why)
        if self._idle is not None:
            self._idle.cancel()
        self._transport = self._parser = self._idle = None

    # -- as httptools calls it ---------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers += len(name) + len(value)
        if self._headers > MOST_HEADERS:
            self._fail(Broken, f"headers of more than {MOST_HEADERS} bytes")
        elif is_read(name):
            self._found[name.lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Take the head of the answer. An interim one is skipped."""
        assert self._parser is not None  # noqa: S101 - it calls this
        status, found = self._parser.get_status_code(), self._found
        if status >= 200 and self._why is None:
            self._head = Head(status, found.get(b"date", ""), found.get(b"retry-after", ""))
            self._wake()

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""
        self._held += len(part)
        if self._head is not None and self._head.is_good:
            self._ready += self._lines.take(part)
            if self._lines.unfinished > self._limit:
                self._fail(MalformedAnswer, f"a line of more than {self._limit} bytes")
        elif self._held > MOST_REFUSAL:
            self._fail(Broken, f"an answer of more than {MOST_REFUSAL} bytes")
        else:
            self._whole.append(part)

    def on_message_complete(self) -> None:
        """End the answer."""
        self._ended = self._head is not None and self._why is None


class Streams:
    """Streams of one client. ``connect_within``: seconds for a connection, TLS included."""

    def __init__(self, *, connect_within: float) -> None:
        self._connect_within = connect_within
        self._open: WeakSet[Stream] = WeakSet()
        self._closed = False

    async def opened(self, target: Target, request: bytes, *, idle_for: float, limit: int) -> Stream:
        """Send a request on a connection of its own, and wait for the head of the answer.

        What this returns must be closed. Raises `Unreachable`, or what ends the stream before that.
        """
        with connecting():
            async with asyncio.timeout(self._connect_within):
                stream = await connected(target, partial(Stream, idle_for=idle_for, limit=limit))
        self._open.add(stream)
        try:
            if self._closed:
                raise Unreachable("the client is closed", sent=False)
            await stream.ask(request)
        except BaseException:
            stream.close()
            raise
        return stream

    def close(self) -> None:
        """Close all streams. Whoever reads them gets an error."""
        self._closed = True
        for stream in list(self._open):
            stream.close()
