"""Event streams with one JSON object in each line, until the client disconnects (REST-13)."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from aiohttp import web

from extender.configuration.rest_settings import RestSettings
from extender.rest.members import encoded
from extender.rest.memory.ring import EventRing
from extender.rest.model.answer import fault
from extender.rest.model.dump import EventStream
from extender.rest.model.events import StreamHead
from extender.rest.projection.units import moment_text
from extender.rest.routes.remembered import streamed_before
from extender.rest.routes.reply import Ask

BEHIND = 1000
"""Most events by which a reader may fall behind."""

WRITE_WITHIN = 5.0
"""Seconds in which a client must accept one write."""

AT_ONCE = 100
"""Most events in one write."""


class TooManyStreams(Exception):
    """Refusal because too many streams are open."""


class Streams:
    """Open streams. ``ring()``: the event records; ``settings()``: limits on the number of streams."""

    def __init__(self, ring: EventRing, settings: Callable[[], RestSettings]) -> None:
        self._ring = ring
        self._settings = settings
        self._hosts: Counter[str] = Counter()
        self._open: dict[int, EventStream] = {}
        self._opened = count()
        self._added = asyncio.Event()
        ring.on_added = self._wake

    def _wake(self) -> None:
        """Wake all waiting streams."""
        self._added.set()
        self._added.clear()

    def open_now(self) -> tuple[EventStream, ...]:
        """Return the open streams, oldest first."""
        return tuple(self._open.values())

    async def serve(self, request: web.Request, ask: Ask) -> web.StreamResponse:
        """Stream until the client disconnects. Raises `TooManyStreams`, or `Refused` for an invalid count."""
        with self._counted(request.headers.get("Host", "")):
            before = streamed_before(ask)
            response = web.StreamResponse(headers={"Content-Type": "application/json; charset=UTF-8"})
            await response.prepare(request)
            await self._write_all(response, before)
            await response.write_eof()
            return response

    @contextmanager
    def _counted(self, host: str) -> Iterator[None]:
        limits = self._settings()
        if self._hosts.total() >= limits.streams or self._hosts[host] >= limits.streams_per_host:
            raise TooManyStreams
        self._hosts[host] += 1
        self._ring.streamed = True
        number = next(self._opened)
        self._open[number] = EventStream(name=host, created_at=moment_text(time.time()))
        try:
            yield
        finally:
            del self._open[number]
            self._hosts[host] -= 1
            if not self._hosts[host]:
                del self._hosts[host]
            self._ring.streamed = bool(self._hosts)

    async def _write_all(self, response: web.StreamResponse, before: int) -> None:
        ring = self._ring
        at = max(ring.lowest, ring.following - before)
        caught_up = ring.following
        await _written(response, encoded(StreamHead(instance_uuid=ring.instance)))
        while True:
            if at < ring.lowest or ring.following - max(at, caught_up) > BEHIND:
                await _written(response, encoded(fault(200, "Event consumer is too slow")))
                return
            records = ring.since(at, most=AT_ONCE)
            if not records:
                await self._added.wait()
                continue
            at += len(records)
            if not await _written(response, b"".join(encoded(each) for each in records)):
                return


async def _written(response: web.StreamResponse, body: bytes) -> bool:
    """Write to a client. False if it does not accept the bytes in time or has disconnected."""
    try:
        async with asyncio.timeout(WRITE_WITHIN):
            await response.write(body)
    except (TimeoutError, ConnectionError):
        return False
    return True
