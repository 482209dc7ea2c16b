"""Networks of pods and nodes: network namespaces with addresses of their own, and relays between them.

A relay plays what the network of a cluster does. Nothing outside these namespaces changes.
"""

import asyncio
import ctypes
import fcntl
import os
import socket
import ssl
import struct
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar

from e2e.programs.processes import die_with_parent

_CLONE_NEWNET = 0x40000000
_SET_FLAGS, _SET_ADDRESS, _SET_MASK = 0x8914, 0x8916, 0x891C
_UP = 0x1 | 0x8 | 0x40
_HELD = 'hostname "$0"; echo ready; exec sleep infinity'
_LIBC = ctypes.CDLL(None, use_errno=True)

T = TypeVar("T")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams]]


class Network:
    """A network namespace with a host name, as an async context manager.

    ``addresses``: of its loopback, beside 127.0.0.1. Processes join it by the options of `joined`.
    """

    def __init__(self, name: str, addresses: Sequence[str] = ()) -> None:
        self.name = name
        self._addresses = addresses
        self._threads = ThreadPoolExecutor(max_workers=1)
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        # The holder keeps both namespaces while no process of a pod runs.
        self._holder = self._held()
        assert self._holder.stdout is not None
        assert await asyncio.to_thread(self._holder.stdout.readline) == b"ready\n"
        await self._inside(self._enter)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.close()
        self._threads.shutdown()
        self._holder.kill()
        self._holder.communicate()

    @property
    def joined(self) -> tuple[str, ...]:
        """A command prefix that runs a program in this network."""
        place = f"/proc/{self._holder.pid}/ns"
        return ("nsenter", f"--net={place}/net", f"--uts={place}/uts")

    def _held(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["unshare", "--net", "--uts", "sh", "-c", _HELD, self.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            preexec_fn=die_with_parent,
        )

    async def listen(self, address: str, port: int, connect: Connect) -> None:
        """Accept connections here, and pass each on to one that ``connect`` opens."""

        def bound() -> socket.socket:
            made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((address, port))
            return made

        listening = await self._inside(bound)
        self._servers.append(await asyncio.start_server(relay_to(connect), sock=listening))

    async def connect(self, address: str, port: int, *, tls: ssl.SSLContext | None = None) -> Streams:
        """A connection that begins in this network. Raises OSError."""
        opening = asyncio.create_task(self._opened(address, port, tls))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # A probe that times out just then. asyncio would leave the socket open: its transport, which is
            # not yet connected to the TLS protocol, cannot be closed. So it opens, and is closed then.
            opening.add_done_callback(_close)
            raise

    async def _opened(self, address: str, port: int, tls: ssl.SSLContext | None) -> Streams:
        made = await self._inside(socket.socket)
        made.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(made, (address, port))
        except BaseException:
            made.close()
            raise
        return await asyncio.open_connection(sock=made, ssl=tls, server_hostname="" if tls else None)

    async def _inside(self, call: Callable[[], T]) -> T:
        """Run in the thread that is in this network. A socket stays in the network where it was made."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _enter(self) -> None:
        place = os.open(f"/proc/{self._holder.pid}/ns/net", os.O_RDONLY)
        try:
            if _LIBC.setns(place, _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(place)
        with socket.socket() as asked:
            fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
            for at, address in enumerate(self._addresses):
                label = f"lo:{at}".encode()
                for code, shown in ((_SET_ADDRESS, address), (_SET_MASK, "255.255.255.255")):
                    packed = struct.pack("16sHH4s8x", label, socket.AF_INET, 0, socket.inet_aton(shown))
                    fcntl.ioctl(asked, code, packed)


def _close(opening: asyncio.Task[Streams]) -> None:
    """Close what was opened for a caller that is gone."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[1].close()


def relay_to(connect: Connect) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A handler of accepted connections, which passes each on."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await connect()
        except OSError:
            writer.close()
            return
        await both_ways((reader, writer), (far_reader, far_writer))

    return handle


async def both_ways(one: Streams, other: Streams) -> None:
    """Pass on bytes until both sides have ended."""
    await asyncio.gather(_pumped(one[0], other[1]), _pumped(other[0], one[1]))


async def _pumped(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(65_536):
            target.write(chunk)
            await target.drain()
    with suppress(OSError):
        target.close()
