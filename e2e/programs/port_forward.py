"""A played port-forward: a listener on loopback that passes bytes on to another port of loopback.

``kubectl port-forward`` needs a kubelet. What a browser and Paddock see of it is the same.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_HOST = re.compile(rb"(?im)^host:[^\r\n]*")
_SITE = re.compile(rb"(?im)^(?:origin|referer|sec-fetch-[a-z]+):[^\r\n]*\r\n")
_REQUEST = re.compile(rb"\A[A-Z]+ (\S+) HTTP/1\.1\r\n")
_STATUS = re.compile(rb"\AHTTP/1\.1 (\d+) [^\r\n]*\r\n")
# A browser asks for it on its own account, some time after it showed a page.
_ICON = b"/favicon.ico"
_FOR_ALL = b"Access-Control-Allow-Origin: *\r\n"

Change = Callable[[bytes], bytes]


@dataclass
class PortForward:
    """A port-forward.

    ``hides``: the target does not learn of which site a page is. ``allows``: pages of all sites may read.
    """

    target: int
    hides: bool = False
    allows: bool = False
    port: int = 0
    #: Status of each answer to what a page asked for.
    statuses: list[int] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass the bytes of a connection on, both ways, until one side ends it."""
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        connection = _Connection(self)
        with suppress(ConnectionError):
            await asyncio.gather(
                _pass(reader, back, connection.asked), _pass(there, writer, connection.answered)
            )


@dataclass
class _Connection:
    """A connection of a browser, which asks anew only after it was answered."""

    forward: PortForward
    path: bytes = b""

    def asked(self, part: bytes) -> bytes:
        if begins := _REQUEST.match(part):
            self.path = begins[1]
        return _SITE.sub(b"", _HOST.sub(b"Host: 127.0.0.1", part)) if self.forward.hides else part

    def answered(self, part: bytes) -> bytes:
        begins = _STATUS.match(part)
        if begins is None:
            return part
        if self.path != _ICON:
            self.forward.statuses.append(int(begins[1]))
        return begins[0] + _FOR_ALL + part[begins.end() :] if self.forward.allows else part


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Change) -> None:
    try:
        while part := await reader.read(2**16):
            writer.write(change(part))
            await writer.drain()
    finally:
        writer.close()


@asynccontextmanager
async def forwarded(target: int, *, hides: bool = False, allows: bool = False) -> AsyncIterator[PortForward]:
    """A port-forward to a port, until the end of the block."""
    made = PortForward(target, hides, allows)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
