"""Listeners for callers with a login: the REST port and the aggregated API, with their certificate.

While this instance does not lead, both pass reads on to the one that does, at a third port of its own.

They open once the settings that name their ports are known. A port that cannot be opened stops nothing else.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.typedefs import Middleware

from extender.certificates.issuing import service_names
from extender.certificates.keeper import CertificateKeeper
from extender.certificates.publishing import ApiServiceBundle, Publication, WebhookBundle
from extender.certificates.rotation import ServingPairs
from extender.configuration.settings import Settings
from extender.http.access.cors import cors_guard
from extender.http.access.delegated import delegated_guard
from extender.http.access.peers import LARGEST_USER, Peers, peer_guard
from extender.http.access.proxied import ProxiedUsers
from extender.http.access.rotating_tls import RotatingTls, ServingFiles, ServingPair, ServingSource
from extender.http.aggregated import (
    NAMES,
    ROOT,
    aggregated_access_of,
    below_root,
    discovery_endpoints,
    resource_endpoints,
    rest_access_of,
)
from extender.http.connections import Connections
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.explaining import Explanations
from extender.http.page import page_shown
from extender.http.relay import Leader, Relay
from extender.http.server import Address, Listener, listen
from extender.identity.caller import AuthenticatedUser
from extender.identity.delegation import Delegation
from extender.identity.refusals import AccessRefused
from extender.identity.reviews import Reviews
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from extender.kube.leader_address import LeaderAddress
from extender.kube.leadership import Leadership
from extender.kube.watch.front_proxy import front_proxy_reflector
from extender.telemetry.reporting import Reporting

FILES_READ_EVERY = 60.0
"""Seconds between two readings of certificate files."""


@dataclass(frozen=True, slots=True)
class DoorPlaces:
    """Address of all ports, and the files of their certificate; None for one that Paddock makes."""

    host: str = "0.0.0.0"  # noqa: S104 - both ports ask for a login
    files: ServingFiles | None = None
    #: Namespace of Paddock's Service and Secret.
    namespace: str = "default"


@dataclass(slots=True)
class _Certificate:
    """The certificate that all listeners show, and instances to each other."""

    peers: Peers
    source: ServingSource | None = None
    listeners: list[RotatingTls] = field(default_factory=list)

    def show(self, source: ServingSource) -> None:
        """Serve a certificate from now on. Raises OSError if it is unusable, and keeps the former one."""
        for each in self.listeners:
            each.renew(source)
        self.source = source
        self.peers.show(source)

    def tls(self, *, asks: ssl.VerifyMode) -> RotatingTls:
        """TLS of a further listener. ``asks``: as in `RotatingTls`."""
        if self.source is None:
            raise OSError("there is no certificate yet")
        made = RotatingTls(self.source, asks=asks)
        self.listeners.append(made)
        return made


class FrontDoor:
    """Listeners with a login, of one process.

    ``endpoints``: the table that all listeners serve but that of the ``webhook``.
    ``administered``: makes the endpoints of administrators. Only the aggregated API has them, and the port
    for other instances.
    ``settings``: asked at each request.
    ``configured``: awaited before ports are opened that no flag or variable names.
    ``leadership``: whether this instance leads, and which host does.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        endpoints: Sequence[Endpoint],
        explanations: Explanations,
        administered: Callable[[Delegation], Sequence[Endpoint]],
        webhook: Sequence[Endpoint],
        settings: Callable[[], Settings],
        configured: asyncio.Event,
        places: DoorPlaces,
        leadership: Leadership,
        reporting: Reporting,
    ) -> None:
        self._client = client
        self._endpoints = endpoints
        self._explanations = explanations
        self._administered = administered
        self._webhook = webhook
        self._settings = settings
        self._configured = configured
        self._places = places
        self._reporting = reporting
        self._leadership = leadership
        name = f"paddock.{places.namespace}.svc"
        self._peer_connections = self._connections("peer")
        self._peers = Peers(name, self._peer_connections)
        self._certificate = _Certificate(self._peers)
        self._needs_certificate = True
        self._problems: dict[str, str] = {}
        self.addresses: dict[str, tuple[str, int]] = {}
        """Host and port of each open listener, by its name."""
        self._delegation = Delegation(
            Reviews(client, reporting.review_failed),
            clock=time.monotonic,
            accepts_api_server=lambda: settings().rest_api_server_tokens,
            judged=reporting.judged,
        )
        address = LeaderAddress(
            client,
            namespace=places.namespace,
            holder=lambda: leadership.holder,
            host=leadership.host,
            clock=time.monotonic,
        )
        leader = Leader(
            leads=lambda: leadership.held,
            find=address.find,
            port=lambda: settings().peer_port,
            name=name,
            tls=lambda: self._peers.calling,
        )
        self._relay = Relay(leader, reporting.passed_on)
        self._keeper = CertificateKeeper(
            client,
            namespace=places.namespace,
            names=self._names,
            serve=self._show_pairs,
            wall=time.time,
            is_missing=lambda error: isinstance(error, NotFound),
            publications=lambda: _publications(self._settings()),
        )

    def notes(self) -> Mapping[str, str]:
        """Return lines for ``/readyz?verbose``."""
        is_open = "rest" in self.addresses and self._settings().rest_access == "open"
        return {
            "rest access": "open: every caller reads everything, without TLS" if is_open else "",
            "serving certificate": self._keeper.problem,
            "certificate of peers": self._peers.problem if "peer" in self.addresses else "",
            **{f"port of {name}": problem for name, problem in self._problems.items()},
        }

    async def run(self) -> None:
        """Serve until cancelled. Returns at once if no setting names a port."""
        if not _ports(self._settings()):
            await self._configured.wait()
        settings = self._settings()
        if not _ports(settings):
            return
        ports = settings.aggregated_port or settings.peer_port or settings.webhook_port
        self._needs_certificate = bool(ports) or settings.rest_access != "open"
        await self._renew()
        async with self._relay, self._opened(settings) as users, asyncio.TaskGroup() as group:
            group.create_task(self._keep_renewing())
            if users is not None:
                group.create_task(front_proxy_reflector(self._client, users.follow, self._reporting).run())

    # -- listeners ---------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _opened(self, settings: Settings) -> AsyncIterator[ProxiedUsers | None]:
        listeners: list[Listener] = []
        users = None
        try:
            if settings.rest_port:
                listeners += await self._tried("rest", self._open_rest(settings))
            if settings.aggregated_port:
                connections = self._connections("aggregated")
                users = ProxiedUsers(self._certificate.tls(asks=ssl.CERT_OPTIONAL), connections)
                listeners += await self._tried(
                    "aggregated", self._open_aggregated(settings, users, connections)
                )
            if settings.peer_port:
                listeners += await self._tried("peer", self._open_peer(settings))
            if settings.webhook_port:
                listeners += await self._tried("webhook", self._open_webhook(settings))
            yield users
        finally:
            for each in listeners:
                await each.cleanup()

    async def _tried(self, name: str, opening: Awaitable[Listener]) -> list[Listener]:
        try:
            listener = await opening
        except OSError as error:
            self._problems[name] = str(error)
            self._reporting.port_not_opened(name, str(error))
            return []
        self.addresses[name] = listener.addresses[0]
        return [listener]

    async def _open_rest(self, settings: Settings) -> Listener:
        """Open the REST port. It requires TLS and a token, unless access is open."""
        door = Door(self._connections("rest"))
        is_open = settings.rest_access == "open"
        guards: list[Middleware] = [
            cors_guard(lambda: self._settings().rest_cors_origins, everyone=is_open),
            # Before the login: the page's files say nothing, and it asks for a token by itself.
            page_shown(),
        ]
        if not is_open:
            guards.append(delegated_guard(self._delegation, rest_access_of))
        endpoints = (*self._endpoints, *self._explanations.endpoints(ROOT, self._may_name))
        app = guarded_app(endpoints, door, *guards, passing=self._relay.passing)
        address = Address(self._places.host, settings.rest_port)
        tls = None if is_open else self._certificate.tls(asks=ssl.CERT_NONE).context
        listener = await listen(app, address, tls=tls)
        self._reporting.rest_opened(listener.addresses[0][1], is_open=is_open)
        return listener

    async def _open_aggregated(
        self, settings: Settings, users: ProxiedUsers, connections: Connections
    ) -> Listener:
        """Open the port of the aggregated API, for the API server's proxy and for tokens."""
        guard = delegated_guard(self._delegation, aggregated_access_of, users)
        app = guarded_app(
            self._aggregated(),
            Door(connections),
            guard,
            prefix=ROOT,
            beside=discovery_endpoints(),
            passing=self._relay.passing,
        )
        return await listen(app, Address(self._places.host, settings.aggregated_port), tls=users.context)

    async def _open_peer(self, settings: Settings) -> Listener:
        """Open the port for other instances. It answers while this one leads, and passes nothing on."""
        guard = peer_guard(self._peers, lambda: self._leadership.held)
        door = Door(self._peer_connections)
        app = guarded_app(self._aggregated(), door, guard, prefix=ROOT, beside=self._endpoints)
        address = Address(self._places.host, settings.peer_port)
        return await listen(app, address, tls=self._peers.listening(), largest_header=LARGEST_USER)

    async def _open_webhook(self, settings: Settings) -> Listener:
        """For API servers, which show no certificate. Every instance answers by itself."""
        app = guarded_app(self._webhook, Door(self._connections("webhook")))
        address = Address(self._places.host, settings.webhook_port)
        return await listen(app, address, tls=self._certificate.tls(asks=ssl.CERT_NONE).context)

    def _aggregated(self) -> list[Endpoint]:
        own = self._explanations.endpoints("", self._may_name)
        administered = self._administered(self._delegation)
        return [*below_root(self._endpoints), *resource_endpoints(), *administered, *own]

    async def _may_name(self, user: AuthenticatedUser) -> bool:
        """True if a caller may read names of all namespaces. Without a verdict it may not."""
        try:
            await self._delegation.authorize(user, NAMES)
        except AccessRefused:
            return False
        return True

    def _connections(self, name: str) -> Connections:
        return Connections(closed=lambda why: self._reporting.closed(name, why))

    # -- certificate -------------------------------------------------------------------------------------

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(FILES_READ_EVERY)
            await self._renew()

    async def _renew(self) -> None:
        if not self._needs_certificate:
            return
        if self._places.files is None:
            await self._keeper.check()
            return
        try:
            self._certificate.show(self._places.files)
            self._problems.pop("certificate", None)
        except OSError as error:
            self._problems["certificate"] = str(error)

    def _show_pairs(self, pairs: ServingPairs) -> None:
        self._certificate.show(ServingPair(pairs.served, pairs.trusted))

    def _names(self) -> frozenset[str]:
        return service_names(self._places.namespace) | set(self._settings().rest_hosts)


def _ports(settings: Settings) -> bool:
    return bool(settings.rest_port or settings.aggregated_port or settings.webhook_port)


def _publications(settings: Settings) -> list[Publication]:
    """Objects that name a port which is open."""
    found: list[Publication] = [ApiServiceBundle()] if settings.aggregated_port else []
    return [*found, WebhookBundle()] if settings.webhook_port else found
