"""Listeners of applications. kube-scheduler's verbs have a server of their own, in `extender.http.verbs`."""

import asyncio
import ssl
from dataclasses import dataclass
from typing import cast

from aiohttp import web

from extender.http.complaints import complaints
from extender.http.connections import Connections, Guarded
from extender.http.door import DOOR

KEEPALIVE = 3600.0
"""Seconds for which an idle connection stays open. Go's client closes it after 90 s (CONTRACT-2.1)."""

BACKLOG = 1024

LARGEST_HEADER = 8190
"""Bytes of one header of a request."""


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port to listen on."""

    host: str
    port: int


class Listener:
    """Port that is served until `cleanup`. ``addresses``: host and port of each socket."""

    def __init__(self, runner: web.AppRunner, server: asyncio.Server, connections: Connections) -> None:
        self._runner = runner
        self._server = server
        self._connections = connections
        self.addresses = [each.getsockname()[:2] for each in server.sockets]

    async def cleanup(self) -> None:
        """Accept no more connections, and let running requests end."""
        self._server.close()
        await self._runner.cleanup()
        self._connections.end()


async def listen(
    app: web.Application,
    address: Address,
    *,
    tls: ssl.SSLContext | None = None,
    shutdown: float = 5.0,
    largest_header: int = LARGEST_HEADER,
) -> Listener:
    """Serve an application behind its door. Raises OSError if the port is taken."""
    connections = app[DOOR].connections
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=complaints(),
        keepalive_timeout=KEEPALIVE,
        shutdown_timeout=shutdown,
        # A bind call that waits for its pod group ends when its caller disconnects.
        handler_cancellation=True,
        # A body with a Content-Encoding is refused, so no body is ever unpacked.
        auto_decompress=False,
        max_field_size=largest_header,
    )
    await runner.setup()
    protocols = cast("web.Server", runner.server)
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: Guarded(protocols(), connections),
            address.host,
            address.port,
            ssl=tls,
            backlog=BACKLOG,
            reuse_address=True,
        )
    except OSError:
        await runner.cleanup()
        raise
    return Listener(runner, server, connections)
