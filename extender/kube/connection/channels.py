"""Pool of connections to the API server, for requests with a whole answer."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from extender.kube.connection.api import Unreachable
from extender.kube.connection.channel import Answer, Broken, Channel
from extender.kube.connection.fencing import HeldBack

MOST = 256
"""Connections at once. Further requests wait for one."""

# kube-apiserver drops an idle connection after 90 s. A POST must not be sent in that moment.
_IDLE = 60.0


class Target(NamedTuple):
    """Where to connect to. A change of it, as after a renewal of certificates, makes new connections."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    server_name: str | None


def target_of(url: str, tls: ssl.SSLContext | None, server_name: str | None) -> tuple[Target, str]:
    """Target and path prefix of a server's URL."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    context = tls or (ssl.create_default_context() if secure else None)
    port = parts.port or (443 if secure else 80)
    name = server_name or parts.hostname if secure else None
    return Target(parts.hostname or "", port, context if secure else None, name), parts.path.rstrip("/")


def head_of(headers: Mapping[str, str]) -> bytes:
    """The bytes of headers that many requests share. Raises ValueError for a line end in one of them."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a line end in a header")
    return "".join([f"{line}\r\n" for line in lines]).encode("latin-1")


def request_of(method: str, path: str, head: bytes, body: bytes | None) -> bytes:
    """The bytes of a request. ``head``: of `head_of`. Raises ValueError for a path that is none."""
    if " " in path or "\r" in path or "\n" in path:
        raise ValueError("a line end or a space in a path")
    first = f"{method} {path} HTTP/1.1\r\n".encode("latin-1")
    if body is None:
        return b"%b%b\r\n" % (first, head)
    return b"%b%bContent-Length: %d\r\n\r\n%b" % (first, head, len(body), body)


P = TypeVar("P", bound=asyncio.Protocol)


async def connected(target: Target, made: Callable[[], P]) -> P:
    """Connect to a target and return the protocol that ``made()`` makes. Raises OSError."""
    _, protocol = await asyncio.get_running_loop().create_connection(
        made, target.host, target.port, ssl=target.tls, server_hostname=target.server_name
    )
    return protocol


@contextmanager
def connecting() -> Iterator[None]:
    """Raise `Unreachable` if no connection comes, or none in time. Nothing was sent then."""
    try:
        yield
    except TimeoutError:
        raise Unreachable("TimeoutError: no connection in time", sent=False) from None
    except OSError as error:
        raise Unreachable(f"{type(error).__name__}: {error}", sent=False) from error


class Channels:
    """Connections of one client. ``connect_within``: seconds for a new connection, TLS included."""

    def __init__(self, *, connect_within: float, most: int = MOST) -> None:
        self._connect_within = connect_within
        self._free = asyncio.Semaphore(most)
        self._idle: deque[tuple[Target, Channel]] = deque()
        self._all: set[Channel] = set()
        self._closed = False

    async def ask(
        self, target: Target, request: bytes, *, within: float, may_send: Callable[[], bool] | None = None
    ) -> Answer:
        """Send a request and return the answer.

        ``within``: seconds that are left for the whole. The time for a connection ends before.
        Raises `Unreachable`. Raises `HeldBack` if ``may_send`` returns False right before the first byte.
        """
        channel = await self._channel(target, within)
        try:
            if may_send is not None and not may_send():
                raise HeldBack
            return await channel.ask(request)
        except Broken as error:
            raise Unreachable(str(error), sent=True) from None
        finally:
            self._give_back(target, channel)

    def close(self) -> None:
        """Close all connections. Requests under way end with `Unreachable`."""
        self._closed = True
        self._idle.clear()
        for channel in list(self._all):
            channel.close()

    def _taken(self, target: Target) -> Channel | None:
        """An idle connection to the target, the latest used first."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            known, channel = self._idle.pop()
            if known == target and channel.is_open and now - channel.used_at < _IDLE:
                return channel
            self._drop(channel)
        return None

    async def _channel(self, target: Target, within: float) -> Channel:
        """A connection for one request, which must be given back."""
        if self._closed:
            raise Unreachable("the client is closed", sent=False)
        if not self._free.locked() and (idle := self._taken(target)) is not None:
            # Nothing is waited for, so no time-out is needed.
            await self._free.acquire()
            return idle
        with connecting():
            # This ends before the whole time does. If that ends, the request has therefore been sent.
            async with asyncio.timeout(min(self._connect_within, within / 2)):
                await self._free.acquire()
                try:
                    return self._taken(target) or await self._connected(target)
                except BaseException:
                    self._free.release()
                    raise

    async def _connected(self, target: Target) -> Channel:
        channel = await connected(target, Channel)
        self._all.add(channel)
        return channel

    def _give_back(self, target: Target, channel: Channel) -> None:
        self._free.release()
        if channel.keeps and not self._closed:
            self._idle.append((target, channel))
        else:
            self._drop(channel)

    def _drop(self, channel: Channel) -> None:
        self._all.discard(channel)
        channel.close()
