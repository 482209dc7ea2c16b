"""Two instances of one Paddock on loopback: a standby, and one that answers it at its port for peers."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler
from yarl import URL

from extender.certificates.issuing import self_signed
from extender.http.access.delegated import USER
from extender.http.access.peers import LARGEST_USER, Peers, peer_guard
from extender.http.access.rotating_tls import ServingPair
from extender.http.connections import Connections
from extender.http.door import Door
from extender.http.endpoints import ANY_METHOD, Endpoint, guarded_app
from extender.http.relay import Leader, Relay
from extender.http.server import Address, Listener, listen
from extender.identity.caller import AuthenticatedUser

NAME = "paddock.paddock-system.svc"
LOOPBACK = "127.0.0.1"
ALICE = AuthenticatedUser("alice", ("team", "system:authenticated"), "uid", (("scope", ("a", "b")),))


def shared(*names: str) -> ServingPair:
    """A certificate that all instances have, and believe."""
    pair = self_signed(names or (NAME,), now=time.time())
    return ServingPair(pair, pair.certificate)


def logged_in(user: AuthenticatedUser | None) -> Any:
    """A guard that knows every caller, if there is a user."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if user is not None:
            request[USER] = user
        return await handler(request)

    return guarded


@dataclass
class Instance:
    """An instance. ``peers``: its certificates; ``seen``: requests that reached a handler."""

    answer: Handler
    peers: Peers = field(default_factory=lambda: Peers(NAME, Connections()))
    leads: bool = False
    #: Address of the leader, as this instance knows it.
    known: str = LOOPBACK
    peer_port: int = 0
    seen: list[web.Request] = field(default_factory=list)
    ended: list[tuple[str, str]] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connections = self.peers._connections
        leader = Leader(
            leads=lambda: self.leads,
            find=self._find,
            port=lambda: self.peer_port,
            name=NAME,
            tls=lambda: self.peers.calling,
        )
        self.relay = Relay(leader, lambda outcome, why: self.ended.append((outcome, why)))

    async def _find(self) -> str:
        return self.known

    @property
    def table(self) -> tuple[Endpoint, ...]:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.seen.append(request)
            return await self.answer(request)

        return (
            Endpoint(ANY_METHOD, "/ws/{tail:.*}", handle, by_leader=True),
            Endpoint("GET", "/namespaces/{name}", handle, by_leader=True),
            Endpoint("GET", "/livez", handle),
        )

    async def listen(self, user: AuthenticatedUser | None = ALICE) -> str:
        """Serve callers; the address of the port."""
        app = guarded_app(self.table, Door(), logged_in(user), passing=self.relay.passing)
        listener = await listen(app, Address(LOOPBACK, 0), shutdown=0.2)
        self.listeners.append(listener)
        return f"http://{LOOPBACK}:{listener.addresses[0][1]}"

    async def listen_to_peers(self) -> int:
        """Serve other instances; the number of the port."""
        guard = peer_guard(self.peers, lambda: self.leads)
        app = guarded_app(self.table, Door(self.connections), guard)
        listener = await listen(
            app,
            Address(LOOPBACK, 0),
            tls=self.peers.listening(),
            shutdown=0.2,
            largest_header=LARGEST_USER,
        )
        self.listeners.append(listener)
        port: int = listener.addresses[0][1]
        return port

    async def stop(self) -> None:
        while self.listeners:
            await self.listeners.pop().cleanup()


@dataclass
class Pair:
    """A leader and a standby. ``url``: of the standby."""

    leader: Instance
    standby: Instance
    url: str

    async def ask(
        self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, Any]:
        """Status, body as it was sent, and headers, of the standby."""
        async with (
            aiohttp.ClientSession(
                auto_decompress=False, skip_auto_headers=("Accept-Encoding", "Accept")
            ) as session,
            session.request(
                method, URL(f"{self.url}{path}", encoded=True), headers=headers, allow_redirects=False
            ) as response,
        ):
            return response.status, await response.read(), response.headers


@asynccontextmanager
async def paired(
    answer: Handler, *, user: AuthenticatedUser | None = ALICE, standby_answers: Handler | None = None
) -> AsyncIterator[Pair]:
    """Both instances, which have the same certificate."""
    certificate = shared()
    leader, standby = Instance(answer, leads=True), Instance(standby_answers or answer)
    for each in (leader, standby):
        each.peers.show(certificate)
    try:
        standby.peer_port = await leader.listen_to_peers()
        async with standby.relay:
            yield Pair(leader, standby, await standby.listen(user))
            await standby.stop()
    finally:
        for each in (standby, leader):
            await each.stop()
