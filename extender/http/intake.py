"""Request bodies, taken in whole: how large, how slow and how many at once they may be (F-19).

Many small bodies are read at once, large ones one at a time. Which limit is a body's depends on the mode of
the extender's configuration: a list of node names is short, whole Nodes are not.
"""

import asyncio
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from core.errors import PaddockError

SMALL = 256 * 2**10
"""Bytes of a body that is read whatever else is being read: a pod and 5,000 names of nodes."""

MOST_SMALL = 64 * 2**20
"""Bytes of all small bodies that are being read."""

MOST_WAITING = 8
"""Large bodies that wait for the one that is being read."""

BODY_WITHIN = 10.0
"""Seconds for a small body, and for the rest of a large one."""

_WHOLE_OBJECTS = (b'"Nodes":{', b'"NodeNameToVictims":{')
"""As Go writes them; where neither stands in a long body, it can only be too long."""

_BROKEN_OFF = (web.RequestPayloadError, aiohttp.ClientError, HttpProcessingError, OSError)
"""What reading a body raises when the caller hangs up or sends what its headers did not promise."""


class BodyFault(PaddockError):
    """A body that is not taken. ``fault``: as metrics name it; ``status``: of the HTTP answer;
    ``always_a_status``: also to verbs that answer faults with 200, as no scheduler sends such a body."""

    fault, status, always_a_status = "body", 400, False


class BodyTooLarge(BodyFault):
    fault = "too large"

    def __init__(self, size: str, most: int) -> None:
        super().__init__(f"body{size} is above the limit of {most} bytes")


class Incomplete(BodyFault):
    fault = "incomplete body"


class Encoded(BodyFault):
    """An encoded body may unpack to a thousand times its size."""

    fault, status, always_a_status = "encoded body", 415, True


class Slow(BodyFault):
    fault, status, always_a_status = "slow body", 408, True


class Busy(BodyFault):
    fault, status = "busy", 503


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Bytes of the longest body taken. ``whole_objects``: of one that lists whole Nodes or pods."""

    names: int
    whole_objects: int


@dataclass(slots=True)
class Intake:
    """The bodies of one listener. ``within``: see `BODY_WITHIN`."""

    within: float = BODY_WITHIN
    most_small: int = MOST_SMALL
    _held: int = 0
    _waiting: int = 0
    _large: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def body_of(self, request: web.BaseRequest, limits: BodyLimits) -> bytes:
        """The whole body. Raises `BodyFault`; not a byte is read of one that says it is too large."""
        encoding = request.headers.get("Content-Encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            raise Encoded("a body with a Content-Encoding is not taken")
        length = request.content_length
        if length is not None and length > limits.whole_objects:
            raise BodyTooLarge(f" of {length} bytes", limits.whole_objects)
        try:
            return await self._read(request.content, limits)
        except TimeoutError as error:
            raise Slow(f"the body did not arrive within {self.within:g} s") from error
        except _BROKEN_OFF as error:
            raise Incomplete(f"body did not arrive whole: {type(error).__name__}") from error

    async def _read(self, content: aiohttp.StreamReader, limits: BodyLimits) -> bytes:
        body = bytearray()
        async with asyncio.timeout(self.within):
            if await self._take_small(content, body, min(SMALL, limits.whole_objects)):
                return bytes(body)
        if len(body) > limits.whole_objects:
            raise BodyTooLarge("", limits.whole_objects)
        await self._await_turn()
        try:
            async with asyncio.timeout(self.within):
                await _take_large(content, body, limits)
        finally:
            self._large.release()
        return bytes(body)

    async def _take_small(self, content: aiohttp.StreamReader, body: bytearray, most: int) -> bool:
        """Read up to ``most`` bytes and a little more; whether that is all of them."""
        try:
            while len(body) <= most:
                chunk = await content.readany()
                if not chunk:
                    return True
                body += chunk
                self._held += len(chunk)
                if self._held > self.most_small:
                    raise Busy("too many bodies are being read")
            return False
        finally:
            self._held -= len(body)

    async def _await_turn(self) -> None:
        if self._waiting >= MOST_WAITING:
            raise Busy("too many large bodies are being read")
        self._waiting += 1
        try:
            # Not for long: so few are before it, and each of them has its time.
            await self._large.acquire()
        finally:
            self._waiting -= 1


async def _take_large(content: aiohttp.StreamReader, body: bytearray, limits: BodyLimits) -> None:
    most = limits.names
    while chunk := await content.readany():
        body += chunk
        if len(body) > most < limits.whole_objects and any(mark in body for mark in _WHOLE_OBJECTS):
            most = limits.whole_objects
        if len(body) > most:
            raise BodyTooLarge("", most)
