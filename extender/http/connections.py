"""Connections of one listener: how many there are, and how long one may take over the head of a request.

aiohttp waits for the rest of a head for as long as a kept-alive connection may idle (F-19). No request is
read or answered here.
"""

import asyncio
import resource
from collections import OrderedDict
from collections.abc import Callable
from typing import cast

MOST_CONNECTIONS = 4_096
"""At once: each open bind call has one, and the members of a pod group wait in theirs."""

HEAD_WITHIN = 10.0
"""Seconds from the first byte of a request's head to its last."""

SWEPT_EVERY = 1.0

SLOW_HEAD, TOO_MANY = "slow head", "too many connections"

Closed = Callable[[str], None]
"""Told why a connection was closed: `SLOW_HEAD` or `TOO_MANY`."""


def _unreported(_: str) -> None:
    return


def most_connections() -> int:
    """`MOST_CONNECTIONS`, or half of the file descriptors that this process may have."""
    return min(MOST_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class Connections:
    """The connections of one listener by what they wait for; the oldest of each kind comes first.

    ``most``: at once; a new one closes the one that has said nothing whole for longest, or is itself closed
    when all others are being answered. ``head_within``: see `HEAD_WITHIN`.
    """

    def __init__(
        self, *, most: int | None = None, head_within: float = HEAD_WITHIN, closed: Closed = _unreported
    ) -> None:
        self._most = most or most_connections()
        self._head_within = head_within
        self._sweeps_every = min(SWEPT_EVERY, head_within)
        self._closed = closed
        self._idle: OrderedDict[asyncio.Transport, float] = OrderedDict()
        self._in_head: OrderedDict[asyncio.Transport, float] = OrderedDict()
        self._answered: dict[asyncio.Transport, bool] = {}
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle) + len(self._in_head) + len(self._answered)

    def opened(self, transport: asyncio.Transport) -> None:
        self._idle[transport] = self._now()
        if len(self) > self._most:
            self._close(next(iter(self._in_head or self._idle)), TOO_MANY)

    def heard(self, transport: asyncio.Transport) -> None:
        """Bytes have come; within a call after its body they begin the next request."""
        if transport in self._answered:
            self._answered[transport] = True
        elif self._idle.pop(transport, None) is not None:
            self._begin(transport)

    def called(self, transport: asyncio.Transport | None) -> None:
        """A head is complete, and its request is being answered."""
        if transport is not None:
            self.lost(transport)
            self._answered[transport] = False

    def read(self, transport: asyncio.Transport | None) -> None:
        """The body of that request is complete."""
        if transport in self._answered:
            self._answered[transport] = False

    def answered(self, transport: asyncio.Transport | None) -> None:
        """The answer is ready."""
        if transport in self._answered:
            if self._answered.pop(transport):
                self._begin(transport)
            else:
                self._idle[transport] = self._now()

    def lost(self, transport: asyncio.Transport) -> None:
        self._idle.pop(transport, None)
        self._in_head.pop(transport, None)
        self._answered.pop(transport, None)

    def close_idle(self) -> None:
        """Close those that wait for a request of which nothing has come."""
        for transport in list(self._idle):
            self.lost(transport)
            transport.abort()

    def end(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()

    def _begin(self, transport: asyncio.Transport) -> None:
        self._in_head[transport] = self._now()
        if self._sweep is None:
            self._sweep_later()

    def _sweep_later(self) -> None:
        self._sweep = asyncio.get_running_loop().call_later(self._sweeps_every, self._close_slow)

    def _close_slow(self) -> None:
        self._sweep = None
        before = self._now() - self._head_within
        while self._in_head:
            transport, since = next(iter(self._in_head.items()))
            if since > before:
                self._sweep_later()
                return
            self._close(transport, SLOW_HEAD)

    def _close(self, transport: asyncio.Transport, why: str) -> None:
        self.lost(transport)
        self._closed(why)
        transport.abort()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class Guarded(asyncio.Protocol):
    """A protocol of aiohttp's, of which the connections hear as well."""

    def __init__(self, inner: asyncio.Protocol, connections: Connections) -> None:
        self._inner = inner
        self._connections = connections
        self._receive = inner.data_received
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._inner.connection_made(transport)
        # Those of uvloop are transports in all but their base class.
        self._transport = cast(asyncio.Transport, transport)
        self._connections.opened(self._transport)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None:
            self._connections.heard(self._transport)
        self._receive(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._connections.lost(self._transport)
            self._transport = None
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
