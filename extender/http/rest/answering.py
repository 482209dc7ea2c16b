"""Reading of requests and sending of replies, for all routes (REST-1, REST-21, REST-23, REST-45)."""

import asyncio
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from extender.http.door import DOOR
from extender.http.endpoints import inner_path, outer_path
from extender.http.intake import BodyFault, BodyLimits
from extender.http.rest.bodies import SMALL, Bodies, Body, Crowded, packing
from extender.http.rest.pace import give_way, release
from extender.http.rest.streams import Streams, TooManyStreams
from extender.rest.members import encoded
from extender.rest.model.answer import Answer, Fault, fault
from extender.rest.pieces import ROWS, pieces, weight_of
from extender.rest.routes.reply import JSON, Ask, Big, Follow, Later, Plain, Refused, Reply
from extender.rest.routes.table import Router

PACKED_FROM = 1400
"""Least bytes of a body that is compressed, if the client accepts it."""

WRITE_WITHIN = 10.0
"""Seconds in which a client must accept one piece of a large body."""

SENT_AT_ONCE = 16
"""Large bodies that are sent concurrently. A slow reader keeps one for long."""

RETRY_AFTER = "5"

_LARGEST_BODY = 17 * 2**20
_BODY = BodyLimits(_LARGEST_BODY, _LARGEST_BODY)

OnBug = Callable[[str, BaseException, bytes], None]


class Answering:
    """Handler for all routes. ``on_bug``: called with path and exception if a route fails."""

    def __init__(self, router: Router, bodies: Bodies, streams: Streams, on_bug: OnBug) -> None:
        self._router = router
        self._bodies = bodies
        self._streams = streams
        self._on_bug = on_bug
        self._sending = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request. Every request gets an answer, unless its client disconnects."""
        try:
            ask = await _ask_from(request)
            return await self._sent(request, ask, await self._reply_of(ask))
        except BodyFault as error:
            response = _small(request, fault(error.status, str(error)))
            response.force_close()
            return response
        except Refused as refused:
            return _small(request, refused.fault)
        except Crowded:
            return _small(request, fault(429, "Too many large answers are being made"))
        except TooManyStreams:
            return _small(request, fault(503, "Too many streaming connections"))
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:  # noqa: BLE001 - a bug must be answered and logged
            self._on_bug(inner_path(request), error, b"")
            return _small(request, fault(500, "Internal error"))

    async def _reply_of(self, ask: Ask) -> Reply:
        reply = self._router.answer(ask)
        while isinstance(reply, Later):
            reply = await asyncio.to_thread(reply.make)
        return reply

    async def _sent(self, request: web.Request, ask: Ask, reply: Reply) -> web.StreamResponse:
        if isinstance(reply, Follow):
            return await self._streams.serve(request, ask)
        if isinstance(reply, Big):
            return await self._in_steps(request, reply)
        if isinstance(reply, Answer | tuple) and weight_of(reply, ROWS) >= ROWS:
            return await self._in_steps(request, Big(lambda: pieces(reply)))
        return _small(request, reply)

    async def _in_steps(self, request: web.Request, reply: Big) -> web.StreamResponse:
        packed = reads_gzip(request)
        key = f"{reply.content_type} {request.raw_path}"
        body = await self._bodies.body_of(key, reply, packed=packed)
        if body.small:
            return _whole(request, 200, body.pieces[0], {"Content-Type": reply.content_type})
        if self._sending >= SENT_AT_ONCE:
            raise Crowded
        self._sending += 1
        try:
            return await _send(request, body, reply.content_type, packed=packed)
        finally:
            self._sending -= 1


_JSON_TYPE = "application/json"


async def _ask_from(request: web.Request) -> Ask:
    body = await request.app[DOOR].body_of(request, _BODY) if request.method == "POST" else b""
    query = request.raw_path.partition("?")[2]
    found: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        found.setdefault(name, value)
    return Ask(inner_path(request), request.method, found, _accept_of(request), body)


def _accept_of(request: web.Request) -> str:
    """Type that the client takes. On the aggregated API it is JSON also beside others, as kubectl asks."""
    accept = request.headers.get("Accept", "")
    types = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    return _JSON_TYPE if outer_path(request) and _JSON_TYPE in types else accept


def reads_gzip(request: web.Request) -> bool:
    """True if the client accepts gzip, with a weight other than 0 (REST-23)."""
    for each in ",".join(request.headers.getall("Accept-Encoding", [])).split(","):
        name, _, weight = each.strip().lower().partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _small(request: web.Request, reply: Reply) -> web.Response:
    """Encode a small reply."""
    if isinstance(reply, Plain):
        reply = reply.below(outer_path(request))
        status, body, headers = reply.status, reply.text.encode(), dict(reply.headers)
        headers["Content-Type"] = reply.content_type
    else:
        status = reply.status_code if isinstance(reply, Fault) else 200
        body, headers = encoded(reply), {"Content-Type": JSON}
    if status in (429, 503):
        headers["Retry-After"] = RETRY_AFTER
    return _whole(request, status, body, headers)


def _whole(request: web.Request, status: int, body: bytes, headers: dict[str, str]) -> web.Response:
    """Make a response in one piece. A body of `PACKED_FROM` bytes is compressed if the client accepts it."""
    if len(body) >= PACKED_FROM:
        headers["Vary"] = "Accept-Encoding"
        if len(body) <= SMALL and reads_gzip(request):
            headers["Content-Encoding"] = "gzip"
            body = b"".join(packing([body]))
    return web.Response(status=status, body=body, headers=headers)


async def _send(request: web.Request, body: Body, content_type: str, *, packed: bool) -> web.StreamResponse:
    """Send pieces as fast as the client accepts them. Other work runs between two pieces."""
    pieces = body.pieces[::-1]
    headers = {"Content-Type": content_type, "Vary": "Accept-Encoding", **_encoding(packed=packed)}
    response = web.StreamResponse(headers=headers)
    response.content_length = sum(len(piece) for piece in pieces)
    try:
        await response.prepare(request)
        while pieces:
            await give_way()
            async with asyncio.timeout(WRITE_WITHIN):
                await response.write(pieces.pop())
        await response.write_eof()
    finally:
        release(pieces)
    return response


def _encoding(*, packed: bool) -> Mapping[str, str]:
    return {"Content-Encoding": "gzip"} if packed else {}
