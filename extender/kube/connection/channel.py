"""Connection to the API server, for one request after the other: HTTP/1.1 over httptools.

aiohttp's client takes 160 to 320 microseconds of CPU for a Binding, and this 25 to 35.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast

import httptools

MOST_ANSWER = 256 * 2**20
"""Bytes of the largest answer. A page of a list has 500 objects."""

MOST_HEADERS = 64 * 2**10
"""Bytes of the headers of an answer."""

_READ = (b"date", b"retry-after")
# Most headers are neither, which their length shows.
_LENGTHS_READ = frozenset(map(len, _READ))


def is_read(name: bytes) -> bool:
    """True for the name of a header that is read, in any case of letters."""
    return len(name) in _LENGTHS_READ and name.lower() in _READ


MaySend = Callable[[], bool]


class Ask(NamedTuple):
    """A request with the body to send, and the right to send it. ``content``: the type of the body."""

    method: str
    path: str
    content: str
    body: bytes | None
    may_send: MaySend | None


class Answer(NamedTuple):
    """An answer of the API server, read whole. Headers that it lacks are empty."""

    status: int
    body: bytes
    date: str = ""
    retry_after: str = ""


class Broken(Exception):
    """The connection ended, or the other end speaks no HTTP. The request may have been carried out."""


class Channel(asyncio.Protocol):
    """A connection. ``used_at``: time of the loop at which the last answer was complete."""

    def __init__(self) -> None:
        self.used_at = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._waiting: asyncio.Future[Answer] | None = None
        self._keeps = False
        self._body: list[bytes] = []
        self._found: dict[bytes, str] = {}
        self._size = self._headers = 0

    @property
    def is_open(self) -> bool:
        """True if another request can be sent."""
        return self._transport is not None and not self._transport.is_closing() and self._waiting is None

    @property
    def keeps(self) -> bool:
        """True if the connection can be used again after the last answer."""
        return self._keeps and self.is_open

    async def ask(self, request: bytes) -> Answer:
        """Send a request and wait for its answer. Raises `Broken`. Cancelling closes the connection."""
        if self._transport is None:
            raise Broken("the connection was closed")
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._waiting
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # -- as asyncio calls it -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived."""
        if self._waiting is None or self._parser is None:
            # Nothing was asked, so this cannot belong to any answer.
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(f"{type(error).__name__}: {error}")

    def eof_received(self) -> None:
        """Close, as the other end has."""
        self._fail("the server closed the connection")

    def connection_lost(self, error: Exception | None) -> None:
        """End the request under way, and drop the parser, which refers to this object."""
        self._fail(f"{type(error).__name__}: {error}" if error else "the connection was closed")
        self._transport = self._parser = None

    def _fail(self, why: str) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(Broken(why))
        self.close()

    # -- as httptools calls it ---------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin an answer."""
        self._body, self._found, self._size, self._headers = [], {}, 0, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers += len(name) + len(value)
        if self._headers > MOST_HEADERS:
            self._fail(f"headers of more than {MOST_HEADERS} bytes")
        elif is_read(name):
            self._found[name.lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""
        self._size += len(part)
        if self._size > MOST_ANSWER:
            self._fail(f"an answer of more than {MOST_ANSWER} bytes")
        else:
            self._body.append(part)

    def on_message_complete(self) -> None:
        """End the answer. An interim one is skipped."""
        parser = self._parser
        assert parser is not None  # noqa: S101 - it calls this
        status = parser.get_status_code()
        if status < 200:
            return
        waiting, self._keeps = self._waiting, parser.should_keep_alive()
        if waiting is None or waiting.done():
            self._fail("an answer that nothing asked for")
            return
        found = self._found
        answer = Answer(status, b"".join(self._body), found.get(b"date", ""), found.get(b"retry-after", ""))
        waiting.set_result(answer)
        self.used_at = waiting.get_loop().time()
