"""Listeners of one process: their ports, their endpoints and their guards.

All endpoints are in one table, which `extender.app` assembles. Every listener serves them to the callers that
its guard accepts.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from extender.configuration.settings import Settings
from extender.http.access.guarding import Neighbours, loopback_guard
from extender.http.access.mutual_tls import MutualTls, RenewedTls
from extender.http.access.own_tls import OwnTls
from extender.http.aggregated import ACTIONS_REFUSED, ROOT
from extender.http.connections import Connections
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.explaining import Explanations
from extender.http.page import page_shown
from extender.http.server import Address, Listener, listen
from extender.http.verbs.listening import VerbsListener, VerbsServer, listen_to_verbs
from extender.identity.caller import AuthenticatedUser
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from extender.telemetry.reporting import Reporting


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses to listen on. ``tls``: for the verbs' port, by files or with certificates of its own."""

    verbs: Address
    admin: Address
    tls: MutualTls | OwnTls | None = None


@dataclass(frozen=True, slots=True)
class Listeners:
    """All listeners, with their contents and addresses.

    ``verbs``: the server for kube-scheduler, with its door; ``endpoints``: the table for all others.
    ``explanations``: their endpoints differ between listeners.
    ``closed(port, why)``: called for a connection that was closed early.
    ``not_renewed(why)``: called for files of the verbs' certificate that cannot be used.
    """

    verbs: Callable[[Door], VerbsServer]
    endpoints: Sequence[Endpoint]
    explanations: Explanations
    places: Places
    settings: Callable[[], Settings]
    closed: Callable[[str, str], None]
    not_renewed: Callable[[str], None]

    async def open_verbs(self, tls: RenewedTls | OwnTls | None) -> VerbsListener:
        """Open the port for kube-scheduler."""
        context = tls.context if tls else None
        return await listen_to_verbs(self.verbs(self._door("verbs")), self.places.verbs, tls=context)

    async def open_admin(self) -> Listener:
        """Open the port without a login, which answers only requests from this machine."""
        neighbours = Neighbours(hosts=lambda: self.settings().rest_hosts)
        endpoints = (*self.endpoints, ACTIONS_REFUSED, *self.explanations.endpoints(ROOT, _names_all))
        app = guarded_app(endpoints, self._door("admin"), loopback_guard(neighbours), page_shown())
        return await listen(app, self.places.admin)

    def verbs_tls(self) -> RenewedTls | OwnTls | None:
        """TLS of the port for kube-scheduler. Raises OSError for files that cannot be used."""
        given = self.places.tls
        return RenewedTls(given, self.not_renewed) if isinstance(given, MutualTls) else given

    def _door(self, port: str) -> Door:
        return Door(Connections(closed=lambda why: self.closed(port, why)))


async def _names_all(_user: AuthenticatedUser) -> bool:
    return True


def own_tls_of(client: ApiClient, namespace: str, client_secret: str, reporting: Reporting) -> OwnTls | None:
    """TLS with certificates that Paddock makes. None if no Secret for kube-scheduler is named."""
    if not client_secret:
        return None
    return OwnTls(
        client,
        namespace=namespace,
        client_secret=client_secret,
        is_missing=lambda error: isinstance(error, NotFound),
        renewed=reporting.client_renewed,
    )


@asynccontextmanager
async def listening(listeners: Listeners) -> AsyncIterator[None]:
    """Keep all listeners open until the end of the block. Raises OSError for a port that is taken."""
    tls = listeners.verbs_tls()
    opened: list[Listener | VerbsListener] = []
    renewing = asyncio.create_task(tls.run()) if tls else None
    try:
        opened.append(await listeners.open_verbs(tls))
        opened.append(await listeners.open_admin())
        yield
    finally:
        if renewing is not None:
            renewing.cancel()
        for listener in opened:
            await listener.cleanup()
