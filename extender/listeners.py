"""Listeners of one process: the ports, what they serve, and the guard of each.

All endpoints are in one table. A new one is added to it where the process is put together, and each listener
then serves it to whom its guard lets through.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from extender.configuration.settings import Settings
from extender.http.access.guarding import Neighbours, loopback_guard
from extender.http.aggregated import ACTIONS_REFUSED
from extender.http.connections import Connections
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.server import Address, Listener, MutualTls, listen


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses to listen on. ``tls``: of the verbs."""

    verbs: Address
    admin: Address
    tls: MutualTls | None = None


@dataclass(frozen=True, slots=True)
class Listeners:
    """Contents and places of all listeners.

    ``verbs``: the application of kube-scheduler's calls behind a door; ``endpoints``: what all others serve.
    ``closed(port, why)``: called for connections that are closed early.
    """

    verbs: Callable[[Door], web.Application]
    endpoints: Sequence[Endpoint]
    places: Places
    settings: Callable[[], Settings]
    closed: Callable[[str, str], None]

    async def open_verbs(self) -> Listener:
        """For kube-scheduler alone."""
        tls = self.places.tls.context() if self.places.tls else None
        return await listen(self.verbs(self._door("verbs")), self.places.verbs, tls=tls)

    async def open_admin(self) -> Listener:
        """Loopback: no login, so only what comes from this machine is answered."""
        neighbours = Neighbours(hosts=lambda: self.settings().rest_hosts)
        endpoints = (*self.endpoints, ACTIONS_REFUSED)
        app = guarded_app(endpoints, self._door("admin"), loopback_guard(neighbours))
        return await listen(app, self.places.admin)

    def _door(self, port: str) -> Door:
        return Door(Connections(closed=lambda why: self.closed(port, why)))


@asynccontextmanager
async def listening(listeners: Listeners) -> AsyncIterator[None]:
    """All listeners, open until the end of the block. Raises OSError for a port that is taken."""
    opened: list[Listener] = []
    try:
        for each in (listeners.open_verbs, listeners.open_admin):
            opened.append(await each())
        yield
    finally:
        for listener in opened:
            await listener.cleanup()
