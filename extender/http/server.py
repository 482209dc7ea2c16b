"""Listeners, and the application for kube-scheduler's verbs."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from aiohttp import web

from extender.http.complaints import complaints
from extender.http.connections import Connections, Guarded
from extender.http.door import DOOR, Door
from extender.http.intake import BodyLimits
from extender.http.middleware import Answer, Measure, OnBug, handler_of

MOST_BYTES = 128 * 2**20
"""Most bytes of a body. About 12,000 Node objects fit into it."""

MOST_NAMES = 16 * 2**20
"""Most bytes of a body with names only. A preempt call for 1,500 full nodes fits into it.

kube-scheduler names only a tenth of the nodes.
"""

MOST_BIND = 2**18
"""Most bytes of a bind call's body, which contains four names."""

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


@dataclass(frozen=True, slots=True)
class MutualTls:
    """Files with the certificate and key of the verbs' port, and with the authority of its clients."""

    certificate: str
    key: str
    client_ca: str

    def context(self) -> ssl.SSLContext:
        """Make a TLS context that requires a client certificate. Raises OSError for unusable files."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


def verbs_app(
    verbs: Mapping[str, Answer],
    *,
    measure: Measure,
    on_bug: OnBug,
    most_bytes: int = MOST_BYTES,
    door: Door | None = None,
) -> web.Application:
    """Make an application with ``POST /v1/<verb>`` for each verb. ``door``: None for a new one."""
    app = web.Application()
    app[DOOR] = door = door or Door()
    large, small = BodyLimits(min(MOST_NAMES, most_bytes), most_bytes), BodyLimits(MOST_BIND, MOST_BIND)
    for verb, answer in verbs.items():
        limits = small if verb == "bind" else large
        handler = handler_of(verb, answer, door, limits, measure=measure, on_bug=on_bug)
        app.router.add_post(f"/v1/{verb}", handler)
    return app


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
