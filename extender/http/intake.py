"""Reading of request bodies, with limits on size, duration and number (F-19).

Small bodies are read concurrently, and large ones one at a time. The size limit depends on the contents,
since lists of node names are short and lists of whole Nodes are long.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from core.errors import PaddockError

SMALL = 256 * 2**10
"""Bytes of a small body. A pod and the names of 5,000 nodes fit into it."""

MOST_SMALL = 64 * 2**20
"""Bytes of all small bodies that are being read."""

MOST_WAITING = 8
"""Large bodies that may wait while another one is being read."""

BODY_WITHIN = 10.0
"""Seconds for a small body, and for the rest of a large one."""

_WHOLE_OBJECTS = (b'"Nodes":{', b'"NodeNameToVictims":{')
"""Keys of lists of whole objects, as Go writes them. A long body without these keys is refused."""

_BROKEN_OFF = (web.RequestPayloadError, aiohttp.ClientError, HttpProcessingError, OSError)
"""Exceptions for a body that ends early or does not match its headers."""


class Content(Protocol):
    """Bytes of a body, as they arrive."""

    async def readany(self) -> bytes:
        """Wait for bytes; empty at the end."""


class BodyFault(PaddockError):
    """A body that is refused.

    ``fault``: name of the fault in metrics.
    ``status``: HTTP status of the answer.
    ``always_a_status``: True if even the verbs that report faults with status 200 use the status.
    kube-scheduler sends no such body.
    """

    fault, status, always_a_status = "body", 400, False


class BodyTooLarge(BodyFault):
    """A body above the limit."""

    fault = "too large"

    def __init__(self, size: str, most: int) -> None:
        super().__init__(f"body{size} is above the limit of {most} bytes")


class Incomplete(BodyFault):
    """A body that ended early."""

    fault = "incomplete body"


class Encoded(BodyFault):
    """A compressed body, which could expand to a thousand times its size."""

    fault, status, always_a_status = "encoded body", 415, True


class Slow(BodyFault):
    """A body that did not arrive in time."""

    fault, status, always_a_status = "slow body", 408, True


class Busy(BodyFault):
    """A body for which there is no capacity now."""

    fault, status = "busy", 503


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Most bytes of an accepted body. ``whole_objects``: the limit for a list of whole Nodes or pods."""

    names: int
    whole_objects: int


@dataclass(slots=True)
class Intake:
    """Reader of a listener's bodies. ``within``: see `BODY_WITHIN`."""

    within: float = BODY_WITHIN
    most_small: int = MOST_SMALL
    _held: int = 0
    _waiting: int = 0
    _large: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def body_of(
        self, content: Content, limits: BodyLimits, *, encoding: str = "", length: int | None = None
    ) -> bytes:
        """Read a whole body. Raises `BodyFault`; for a large ``length``, it does so before reading.

        ``encoding``: Content-Encoding; ``length``: Content-Length; as the head of the request has them.
        """
        if encoding.strip().lower() not in ("", "identity"):
            raise Encoded("a body with a Content-Encoding is not taken")
        if length is not None and length > limits.whole_objects:
            raise BodyTooLarge(f" of {length} bytes", limits.whole_objects)
        try:
            return await self._read(content, limits)
        except TimeoutError as error:
            raise Slow(f"the body did not arrive within {self.within:g} s") from error
        except _BROKEN_OFF as error:
            raise Incomplete(f"body did not arrive whole: {type(error).__name__}") from error

    async def _read(self, content: Content, limits: BodyLimits) -> bytes:
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

    async def _take_small(self, content: Content, body: bytearray, most: int) -> bool:
        """Read at least ``most`` bytes. True if the body is complete."""
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
            # The wait is short, since few bodies are ahead and each has a time limit.
            await self._large.acquire()
        finally:
            self._waiting -= 1


async def _take_large(content: Content, body: bytearray, limits: BodyLimits) -> None:
    most = limits.names
    while chunk := await content.readany():
        body += chunk
        if len(body) > most < limits.whole_objects and any(mark in body for mark in _WHOLE_OBJECTS):
            most = limits.whole_objects
        if len(body) > most:
            raise BodyTooLarge("", most)
