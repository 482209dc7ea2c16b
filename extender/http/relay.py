"""Requests that a standby passes on to the leader, and the answers that it hands back (REST-43).

Reads are passed on, and what administrators send, whose bodies are small. A standby first authenticates
and authorizes callers as the leader does. A request is passed on only once, since the leader's port passes
nothing on. Neither end stores a body.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler
from yarl import URL

from extender.configuration.edit import MOST_BYTES
from extender.http.access.delegated import USER
from extender.http.access.peers import MISDIRECTED, USER_HEADER, user_header
from extender.http.aggregated import ACTIONS
from extender.http.configuring.writing import WRITE
from extender.http.door import DOOR
from extender.http.endpoints import inner_path
from extender.http.intake import BodyLimits
from extender.http.statuses import status_response
from extender.rest.members import encoded
from extender.rest.model.answer import fault
from extender.rest.openapi import COMPARISON

CONNECT_WITHIN = 2.0
"""Seconds for a connection to the leader."""

HEAD_WITHIN = 10.0
"""Seconds until the head of its answer. A large answer may wait 5 s for its turn."""

PIECE_WITHIN = 10.0
"""Seconds for the next piece of an answer, and for the caller to take it."""

CHECKED_EVERY = 2.0
"""Seconds between two checks that the instance which sends a stream still leads."""

AT_ONCE = 256
"""Concurrent requests that are passed on."""

RETRY_AFTER = "5"

_NOT_LEADING = "this instance does not lead"

ANSWERED, UNKNOWN, FAILED, BUSY = "answered", "no leader", "failed", "busy"
"""Outcomes of a request."""

BODIES = {("POST", f"/{ACTIONS}"): 16 * 2**10, ("POST", COMPARISON): MOST_BYTES, ("PUT", WRITE): MOST_BYTES}
"""Most bytes of a body that is passed on, by method and path. No other body is passed on."""

_ASKED = ("Accept", "Accept-Encoding", "Audit-Id", "Host", "If-Match")
"""Headers of a request that the leader reads. Credentials and names of users are not among them."""

_ANSWERED = (
    *("Allow", "Content-Encoding", "Content-Type", "Location", "Retry-After", "Vary"),
    *("Cache-Control", "ETag"),
)
"""Headers of an answer that the caller gets."""

_LEFT_OUT = ("Accept", "Accept-Encoding", "User-Agent")
"""Headers that the HTTP client would add by itself."""

_REFUSED = (401, 403, MISDIRECTED)
"""Statuses of an instance that refuses the standby. They say nothing about the caller."""


class NotPassedOn(Exception):
    """A request that the leader did not answer. ``outcome``: one of the above."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Leader:
    """The instance that leads, as this one knows it."""

    #: True while it is this one.
    leads: Callable[[], bool]
    #: Finds the IP address of that instance, empty if it is not known.
    find: Callable[[], Awaitable[str]]
    #: Port of that instance for others, 0 for none.
    port: Callable[[], int]
    #: A name that the certificate of each instance has.
    name: str
    #: The context to call it with.
    tls: Callable[[], ssl.SSLContext | None]


class Relay:
    """Connection to the leader, to be used with ``async with``.

    ``ended(outcome, why)``: called for each request; ``why`` is empty for one that was answered.
    """

    def __init__(self, leader: Leader, ended: Callable[[str, str], None]) -> None:
        self._leader = leader
        self._ended = ended
        self._session: aiohttp.ClientSession | None = None
        self._passing = 0

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=AT_ONCE, use_dns_cache=False),
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_WITHIN, sock_connect=CONNECT_WITHIN),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_LEFT_OUT,
        )
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    def passing(self, own: Handler) -> Handler:
        """Make a handler that passes requests to the leader. While this instance leads, ``own`` answers."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if not _is_passed(request) or self._leader.leads():
                return await own(request)
            return await self._passed_on(request)

        return handle

    async def _passed_on(self, request: web.Request) -> web.StreamResponse:
        try:
            if self._passing >= AT_ONCE:
                raise NotPassedOn(BUSY, "too many requests are being passed on to the leader")
            self._passing += 1
            try:
                response = await self._answered(request)
            finally:
                self._passing -= 1
        except NotPassedOn as error:
            self._ended(error.outcome, f"{error}{_cause_of(error)}")
            return _unavailable(request, str(error))
        self._ended(ANSWERED, "")
        return response

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        address = await self._leader.find()
        async with self._asked(request, address) as answer:
            response = web.StreamResponse(status=answer.status, headers=_headers_from(answer))
            response.content_length = answer.content_length
            await response.prepare(request)
            try:
                async for piece in self._pieces(answer, address):
                    async with asyncio.timeout(PIECE_WITHIN):
                        await response.write(piece)
                await response.write_eof()
            except (aiohttp.ClientError, OSError):
                # The head was sent already. A cut connection shows that the answer is incomplete.
                if request.transport is not None:
                    request.transport.abort()
            return response

    @asynccontextmanager
    async def _asked(self, request: web.Request, address: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """Read the head of the leader's answer. Raises `NotPassedOn`."""
        context, port, session = self._leader.tls(), self._leader.port(), self._session
        if not address or not port or session is None:
            raise NotPassedOn(UNKNOWN, f"{_NOT_LEADING}, and does not know the leader's address")
        if context is None:
            raise NotPassedOn(FAILED, f"{_NOT_LEADING}, and has no certificate for the leader")
        body = await _body_of(request)
        try:
            async with asyncio.timeout(HEAD_WITHIN):
                answer = await session.request(
                    request.method,
                    _url(address, port, request.raw_path),
                    data=body,
                    headers=_headers_for(request),
                    ssl=context,
                    server_hostname=self._leader.name,
                    allow_redirects=False,
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NotPassedOn(FAILED, f"{_NOT_LEADING}, and the leader did not answer") from error
        try:
            if answer.status in _REFUSED:
                raise NotPassedOn(FAILED, f"{_NOT_LEADING}, and the leader refused it")
            yield answer
        finally:
            if answer.content.at_eof():
                answer.release()
            else:
                answer.close()

    async def _pieces(self, answer: aiohttp.ClientResponse, address: str) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. A stream of unknown length ends when another instance leads."""
        streams = answer.content_length is None
        checked = time.monotonic()
        while True:
            piece = None
            try:
                async with asyncio.timeout(CHECKED_EVERY if streams else PIECE_WITHIN):
                    piece = await answer.content.readany()
            except TimeoutError:
                if not streams:
                    raise
            if piece is not None:
                if not piece:
                    return
                yield piece
            if streams and time.monotonic() >= checked + CHECKED_EVERY:
                checked = time.monotonic()
                if await self._leader.find() != address:
                    return


def _url(address: str, port: int, target: str) -> URL:
    """Return the address of a path at the leader. Escapes in the path stay. Raises ValueError."""
    path, _, query = target.partition("?")
    if not path.startswith("/"):
        raise ValueError("no path")
    return URL.build(scheme="https", host=address, port=port, path=path, query_string=query, encoded=True)


def _is_passed(request: web.Request) -> bool:
    """True for reads, and for requests of `BODIES`."""
    return request.method == "GET" or (request.method, inner_path(request)) in BODIES


async def _body_of(request: web.Request) -> bytes | None:
    """Body of a request, None for a read. Raises `BodyFault` for one above the limit."""
    if request.method == "GET":
        return None
    most = BODIES[request.method, inner_path(request)]
    return await request.app[DOOR].body_of(request, BodyLimits(most, most))


def _headers_for(request: web.Request) -> dict[str, str]:
    found = {name: ", ".join(values) for name in _ASKED if (values := request.headers.getall(name, []))}
    if USER in request:
        found[USER_HEADER] = user_header(request[USER])
    return found


def _headers_from(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name: answer.headers[name] for name in _ANSWERED if name in answer.headers}


def _unavailable(request: web.Request, why: str) -> web.Response:
    """503 in the words of the interface that was asked."""
    if inner_path(request).startswith("/ws/") or inner_path(request).startswith("/debug/"):
        body, kind = encoded(fault(503, why)), "application/json; charset=UTF-8"
        response = web.Response(status=503, body=body, headers={"Content-Type": kind})
    else:
        response = status_response(503, why)
    response.headers["Retry-After"] = RETRY_AFTER
    return response


def _cause_of(error: NotPassedOn) -> str:
    """Return the cause. It is for the log only, since it names addresses."""
    cause = error.__cause__
    return f" ({type(cause).__name__}: {str(cause)[:200]})" if cause is not None else ""
