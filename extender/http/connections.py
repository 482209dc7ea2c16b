"""Limits on the connections of a listener: their number, and the time to send the head of a request (F-19).

aiohttp itself would wait for an incomplete head as long as for an idle connection. This module neither reads
nor answers requests.
"""

import asyncio
import resource
from collections import OrderedDict
from collections.abc import Callable
from typing import cast

MOST_CONNECTIONS = 4_096
"""Concurrent connections. A bind call keeps its connection while it waits for its pod group."""

HEAD_WITHIN = 10.0
"""Seconds from the first byte of a request's head to its last."""

SWEPT_EVERY = 1.0
"""Seconds between two searches for slow heads."""

SLOW_HEAD, TOO_MANY = "slow head", "too many connections"

Closed = Callable[[str], None]
"""Called when a connection was closed, with the reason `SLOW_HEAD` or `TOO_MANY`."""


def _unreported(_: str) -> None:
    return


def most_connections() -> int:
    """Return `MOST_CONNECTIONS`, or half of the process's limit on file descriptors if that is less."""
    return min(MOST_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class Connections:
    """The connections of a listener, by state.

    ``most``: concurrent connections. Beyond this number, a new connection replaces the one that has waited
    longest for a complete head. If all others are being answered, the new connection is closed.
    ``head_within``: see `HEAD_WITHIN`. ``closed``: see `Closed`.
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
        self._clock: Callable[[], float] | None = None

    def __len__(self) -> int:
        return len(self._idle) + len(self._in_head) + len(self._answered)

    def opened(self, transport: asyncio.Transport) -> None:
        """Note a new connection. Closes one connection if there are too many."""
        self._idle[transport] = self._now()
        if len(self) > self._most:
            self._close(next(iter(self._in_head or self._idle)), TOO_MANY)

    def heard(self, transport: asyncio.Transport) -> None:
        """Note that bytes have arrived. After the body of a call, they begin the next request."""
        if transport in self._answered:
            self._answered[transport] = True
        elif self._idle.pop(transport, None) is not None:
            self._begin(transport)

    def called(self, transport: asyncio.Transport | None) -> None:
        """Note that a head is complete and its request is being answered."""
        if transport is not None:
            self.lost(transport)
            self._answered[transport] = False

    def read(self, transport: asyncio.Transport | None) -> None:
        """Note that the body of a request is complete."""
        if transport in self._answered:
            self._answered[transport] = False

    def answered(self, transport: asyncio.Transport | None) -> None:
        """Note that the answer of a request is ready."""
        if transport in self._answered:
            if self._answered.pop(transport):
                self._begin(transport)
            else:
                self._idle[transport] = self._now()

    def lost(self, transport: asyncio.Transport) -> None:
        """Note that a connection has ended."""
        self._idle.pop(transport, None)
        self._in_head.pop(transport, None)
        self._answered.pop(transport, None)

    def close_idle(self) -> None:
        """Close all connections that have no request."""
        for transport in list(self._idle):
            self.lost(transport)
            transport.abort()

    def end(self) -> None:
        """Stop the search for slow heads."""
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

    def _now(self) -> float:
        # asyncio finds the loop by a system call, so that is asked for once.
        if self._clock is None:
            self._clock = asyncio.get_running_loop().time
        return self._clock()


class Guarded(asyncio.Protocol):
    """Wrapper of aiohttp's protocol that reports its connection to `Connections`."""

    def __init__(self, inner: asyncio.Protocol, connections: Connections) -> None:
        self._inner = inner
        self._connections = connections
        self._receive = inner.data_received
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Report a new connection."""
        self._inner.connection_made(transport)
        # uvloop's transports only lack the base class.
        self._transport = cast(asyncio.Transport, transport)
        self._connections.opened(self._transport)

    def data_received(self, data: bytes) -> None:
        """Report that bytes have arrived."""
        if self._transport is not None:
            self._connections.heard(self._transport)
        self._receive(data)

    def eof_received(self) -> bool | None:
        """Pass the call on."""
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        if self._transport is not None:
            self._connections.lost(self._transport)
            self._transport = None
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass the call on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass the call on."""
        self._inner.resume_writing()
