"""Port of kube-scheduler's verbs: ``POST /v1/<verb>`` for each, and nothing else."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from extender.http.complaints import complaints
from extender.http.door import Door
from extender.http.intake import BodyLimits
from extender.http.server import BACKLOG, KEEPALIVE, Address
from extender.http.verbs.answering import Answer, Measure, OnBug, Verb
from extender.http.verbs.connection import Connection, Shared
from extender.http.verbs.request import Route

MOST_BYTES = 128 * 2**20
"""Most bytes of a body. About 12,000 Node objects fit into it."""

MOST_NAMES = 16 * 2**20
"""Most bytes of a body with names only. A preempt call for 1,500 full nodes fits into it.

kube-scheduler names only a tenth of the nodes.
"""

MOST_BIND = 2**18
"""Most bytes of a bind call's body, which contains four names."""


@dataclass(frozen=True, slots=True)
class VerbsServer:
    """Routes of the port by path, and the limits that they share."""

    routes: Mapping[bytes, Route]
    door: Door


def verbs_server(
    verbs: Mapping[str, Answer],
    *,
    measure: Measure,
    on_bug: OnBug,
    most_bytes: int = MOST_BYTES,
    door: Door | None = None,
) -> VerbsServer:
    """Make a server with a route for each verb. ``door``: None for a new one."""
    large, small = BodyLimits(min(MOST_NAMES, most_bytes), most_bytes), BodyLimits(MOST_BIND, MOST_BIND)
    routes = {
        f"/v1/{name}".encode(): Route(Verb(name, answer, measure, on_bug), small if name == "bind" else large)
        for name, answer in verbs.items()
    }
    return VerbsServer(routes, door or Door())


class VerbsListener:
    """Port that is served until `cleanup`. ``addresses``: host and port of each socket."""

    def __init__(self, server: asyncio.Server, shared: Shared, shutdown: float) -> None:
        self._server, self._shared, self._shutdown = server, shared, shutdown
        self.addresses = [each.getsockname()[:2] for each in server.sockets]

    async def cleanup(self) -> None:
        """Accept no more connections, and let running requests end for as long as ``shutdown``."""
        self._server.close()
        self._shared.closing = True
        for connection in list(self._shared.open):
            connection.close()
        tasks = [connection.task for connection in self._shared.open if connection.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=self._shutdown)
        for connection in list(self._shared.open):
            connection.abort()
        self._shared.door.connections.end()


async def listen_to_verbs(
    server: VerbsServer,
    address: Address,
    *,
    tls: ssl.SSLContext | None = None,
    shutdown: float = 5.0,
    idle_for: float = KEEPALIVE,
) -> VerbsListener:
    """Open the port. Raises OSError if it is taken. ``shutdown``, ``idle_for``: seconds."""
    shared = Shared(server.routes, server.door, complaints(), idle_for)
    opened = await asyncio.get_running_loop().create_server(
        lambda: Connection(shared),
        address.host,
        address.port,
        ssl=tls,
        backlog=BACKLOG,
        reuse_address=True,
    )
    return VerbsListener(opened, shared, shutdown)
