"""Connection of a client of the verbs' port: requests in, answers out, one after the other.

httptools parses. A call with a short body, as kube-scheduler sends it, is answered without a task.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from logging import Logger
from typing import cast

import httptools

from extender.http.door import Door
from extender.http.intake import Incomplete
from extender.http.verbs.answering import Reply, said
from extender.http.verbs.content import BrokenOff, Content
from extender.http.verbs.request import Request, Route

MOST_OVERHEAD = 16 * 2**10
"""Most bytes of a request apart from its body. A chunked body may add eight times its own size."""

LINGERS = 2.0
"""Seconds for which the rest of a refused body is discarded, so that the client can read the refusal."""

SOON = 0.05
"""Seconds in which the rest of a short body is expected. kube-scheduler sends a call in two pieces."""

_HEAD = "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: "
_HEADS = {each.value: _HEAD.format(each.value, each.phrase).encode() for each in HTTPStatus}
# Most headers are none of those that are read, which their length shows.
_LENGTHS_READ = frozenset(map(len, (b"content-length", b"content-encoding", b"expect")))
_TOO_LONG = "the head is too long"
_ALLOWED = b"\r\nAllow: POST"
_CLOSES = b"\r\nConnection: close"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(eq=False, slots=True)
class Shared:
    """State that all connections of a listener share. ``open``: the connections."""

    routes: Mapping[bytes, Route]
    door: Door
    log: Logger
    idle_for: float
    open: set["Connection"] = field(default_factory=set)
    #: True once the listener accepts no more requests.
    closing: bool = False


class Connection(asyncio.Protocol):
    """Connection of one client."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._connections = shared.door.connections
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._request: Request | None = None
        self._waiting: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._overhead = self._allowance = self._head = 0
        self._invalid = self._full = self._ends = self._crowded = False
        self._active = 0.0
        #: Clock of the event loop, which asyncio finds by a system call. Set once the connection is made.
        self._clock: Callable[[], float] = float
        self._idle: asyncio.TimerHandle | None = None
        self._soon: asyncio.TimerHandle | None = None

    @property
    def task(self) -> asyncio.Task[None] | None:
        """Task that answers a request, if one does."""
        return self._task

    # -- the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note a new connection."""
        # uvloop's transports only lack the base class.
        self._transport = cast(asyncio.Transport, transport)
        self._shared.open.add(self)
        self._connections.opened(self._transport)
        self._close_after(self._shared.idle_for)
        self._clock = asyncio.get_running_loop().time
        self._active = self._clock()

    def connection_lost(self, _: Exception | None) -> None:
        """Cancel the work for a client that has gone, and drop all that refers to this connection."""
        if self._transport is not None:
            self._connections.lost(self._transport)
        self._transport = None
        self._shared.open.discard(self)
        if self._soon is not None:
            self._incomplete()
        self._waiting.clear()
        for each in (self._idle, self._soon, self._task):
            if each is not None:
                each.cancel()
        self._idle = self._soon = self._request = self._parser = None

    def pause_writing(self) -> None:
        """Answer no more requests until the client reads."""
        self._full = True

    def resume_writing(self) -> None:
        """Answer again, since the client reads."""
        self._full = False
        self._advance()
        self._receive_while_few_wait()

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, and answer what is complete."""
        if self._transport is None or self._parser is None or self._ends or self._invalid:
            return
        self._connections.heard(self._transport)
        self._overhead += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._give_up(error)
        if self._overhead > MOST_OVERHEAD + self._allowance:
            self._give_up(ValueError("too many bytes apart from the body"))
        self._advance()
        self._receive_while_few_wait()

    # -- the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._request = Request(Content(self._pause))
        self._head = 0

    def on_url(self, url: bytes) -> None:
        """Note a part of the target."""
        assert self._request is not None  # noqa: S101 - the parser has begun one
        self._request.url += url
        self._head += len(url)
        if self._head > MOST_OVERHEAD:
            raise ValueError(_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note the few headers that matter."""
        request = self._request
        assert request is not None  # noqa: S101 - as above
        self._head += len(name) + len(value)
        if self._head > MOST_OVERHEAD:
            raise ValueError(_TOO_LONG)
        if len(name) not in _LENGTHS_READ:
            return
        match name.lower():
            case b"content-length":
                request.length = int(value)
            case b"content-encoding":
                request.encoding = f"{request.encoding},{value.decode('latin-1')}".strip(",")
            case b"expect":
                request.asks_first = value.strip().lower() == b"100-continue"

    def on_headers_complete(self) -> None:
        """Let the request be answered when its turn comes."""
        request, parser = self._request, self._parser
        assert request is not None  # noqa: S101 - as above
        assert parser is not None  # noqa: S101 - it calls this
        request.method = parser.get_method()
        # No other protocol is spoken, so a request for one is answered as it stands.
        request.keeps = parser.should_keep_alive() and not parser.should_upgrade()
        self._waiting.append(request)

    def on_body(self, body: bytes) -> None:
        """Pass bytes of the body on."""
        assert self._request is not None  # noqa: S101 - as above
        self._overhead -= len(body)
        self._allowance += 8 * len(body)
        self._request.content.feed(body)

    def on_message_complete(self) -> None:
        """End the request."""
        assert self._request is not None  # noqa: S101 - as above
        self._overhead = self._allowance = 0
        self._request.content.end()

    # -- answers -----------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Answer requests in their order, until one takes time."""
        while self._waiting and self._task is None and not self._full and not self._ends:
            if self._waiting[0].comes_soon and not self._invalid:
                if self._soon is None:
                    self._soon = asyncio.get_running_loop().call_later(SOON, self._wait_no_longer)
                return
            self._begin(self._waiting.popleft())
        if self._invalid and not self._waiting and self._task is None and not self._ends:
            self._write(Reply(400, said("invalid request"), closes=True), lingers=True)

    def _receive_while_few_wait(self) -> None:
        """Stop receiving while requests wait, either for a slow answer or for a client that does not read."""
        crowded = bool(self._waiting) and (self._task is not None or self._full)
        if crowded != self._crowded:
            self._crowded = crowded
            self._pause(crowded)

    def _wait_no_longer(self) -> None:
        self._soon = None
        if self._waiting and self._task is None and not self._full and not self._ends:
            self._begin(self._waiting.popleft())

    def _begin(self, request: Request) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        self._connections.called(self._transport)
        route = self._shared.routes.get(request.path)
        if route is None or request.method != b"POST":
            reply = Reply(404, said("not found")) if route is None else Reply(405, said("method not allowed"))
            self._end(request, reply)
        elif request.is_small(route.limits):
            found = route.verb.reply_to(request.content.take())
            if isinstance(found, Reply):
                self._end(request, found)
            else:
                self._answer_later(request, found)
        else:
            self._answer_later(request, self._read_and_reply(request, route))

    async def _read_and_reply(self, request: Request, route: Route) -> Reply:
        if request.asks_first and self._transport is not None:
            self._transport.write(_CONTINUE)
        intake = self._shared.door.intake
        body = intake.body_of(request.content, route.limits, encoding=request.encoding, length=request.length)
        return await route.verb.read_and_reply(body, lambda: self._connections.read(self._transport))

    def _answer_later(self, request: Request, reply: Awaitable[Reply]) -> None:
        async def answer() -> None:
            try:
                found = await reply
            except Exception as error:
                self._shared.log.error("a request failed", exc_info=error)
                found = Reply(500, said("internal"), closes=True)
            finally:
                self._task = None
            self._end(request, found)
            self._advance()
            self._receive_while_few_wait()

        self._task = asyncio.get_running_loop().create_task(answer())

    def _end(self, request: Request, reply: Reply) -> None:
        """Send the answer. The connection closes after an incomplete body, which hides the next request."""
        self._connections.answered(self._transport)
        whole = request.content.is_complete
        closes = reply.closes or not request.keeps or not whole or self._shared.closing
        self._write(Reply(reply.status, reply.body, closes), lingers=not whole)

    def _write(self, reply: Reply, *, lingers: bool = False) -> None:
        if self._transport is None:
            return
        more = (_ALLOWED if reply.status == 405 else b"") + (_CLOSES if reply.closes else b"")
        self._transport.write(b"%b%d%b\r\n\r\n%b" % (_HEADS[reply.status], len(reply.body), more, reply.body))
        self._active = self._clock()
        if not reply.closes:
            return
        self._ends = True
        self._waiting.clear()
        if lingers:
            self._linger(self._transport)
        else:
            self._transport.close()

    def _linger(self, transport: asyncio.Transport) -> None:
        """Discard what still arrives. Closing at once would reset the connection before the client reads."""
        self._pause(False)
        if transport.can_write_eof():
            transport.write_eof()
        self._close_after(LINGERS)

    def _give_up(self, error: Exception) -> None:
        """Accept nothing more from this client. Earlier requests are answered first."""
        if self._invalid:
            return
        self._invalid = True
        self._shared.log.warning("invalid request", exc_info=error)
        if self._request is not None:
            self._request.content.fail(BrokenOff("invalid request"))

    def _incomplete(self) -> None:
        """Count a call whose body was still expected when its caller hung up."""
        if route := self._shared.routes.get(self._waiting[0].path):
            route.verb.measure(route.verb.name, 0.0, Incomplete.fault)

    # -- the end -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connection if no request is being answered."""
        # asyncio's TLS of Python 3.11.2 cannot be aborted after it was closed twice.
        if self._transport is not None and self._task is None and not self._transport.is_closing():
            self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _pause(self, paused: bool) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _close_after(self, seconds: float) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(seconds, self._close_if_idle)

    def _close_if_idle(self) -> None:
        """Close the connection at its time-out, unless it was used meanwhile."""
        left = self._active + self._shared.idle_for - self._clock()
        if self._ends:
            self.abort()
        elif left > 0 or self._task is not None:
            self._close_after(max(left, LINGERS))
        else:
            self.close()
