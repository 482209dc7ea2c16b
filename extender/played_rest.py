"""The REST interface over a simulation, whose thread holds a lock while it works.

Answers are made at once and under that lock, on the event loop of the listeners.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from extender.engine.outward import Witness
from extender.http.endpoints import ANY_METHOD, Endpoint
from extender.http.rest.service import RestService
from extender.http.rest.witness import RestWitness
from extender.rest.routes.reply import Ask, Big, Plain, Reply
from extender.rest.routes.table import Route, Router
from extender.simulator.paddock import Life
from extender.version import version

ROUTES = "/{ws:(?i:ws)}/{tail:.*}"
"""Paths of the interface. Its debugging routes are left out: they read the ledger in slices."""


class PlayedRest:
    """``validate``: the verdict on a document; ``on_bug``: as of `RestService`."""

    def __init__(
        self,
        lock: threading.Lock,
        validate: Callable[[bytes], Mapping[str, Any]],
        on_bug: Callable[[str, BaseException, bytes], None],
    ) -> None:
        self._lock = lock
        self._validate = validate
        self._on_bug = on_bug
        self._loop = asyncio.get_running_loop()
        self._service: RestService | None = None

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Paths that are answered; 503 before a simulation has begun."""
        return (Endpoint(ANY_METHOD, ROUTES, self._handle),)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self._service is None:
            return web.json_response({"status_code": 503, "message": "the day has not begun"}, status=503)
        return await self._service.endpoints()[0].handler(request)

    # -- called by the simulation's thread, under its lock --------------------------------------------------

    def begin(self, life: Life, witness: Witness) -> None:
        """Answer for this life from now on. ``witness``: hears what its engine reports, too."""
        service = RestService(
            life.engine,
            life.configuration,
            clock=lambda: life.engine.now,
            version=version(),
            validate=self._validate,
            unready=lambda: "",
            on_bug=self._on_bug,
            router=self._router,
        )
        wake = service.memory.ring.on_added
        service.memory.ring.on_added = lambda: self._on_loop(wake)
        life.witness = RestWitness(witness, service.reports)
        life.outward.settled = service.reports.settled
        _pass_time_of(service)
        self._service = service

    def pass_time(self) -> None:
        """To be called at each hour of the day."""
        if self._service is not None:
            _pass_time_of(self._service)

    def _on_loop(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    def _router(self, routes: tuple[Route, ...], unready: Callable[[], str]) -> Router:
        return _AtOnce(routes, unready, self._lock)


def _pass_time_of(service: RestService) -> None:
    service.pass_time()
    service.check_health_at_once()


class _AtOnce(Router):
    """A router whose replies are whole before the lock is released."""

    def __init__(self, routes: tuple[Route, ...], unready: Callable[[], str], lock: threading.Lock) -> None:
        super().__init__(routes, unready)
        self._lock = lock

    def answer(self, ask: Ask) -> Reply:
        """The reply of the route."""
        with self._lock:
            reply = super().answer(ask)
            if isinstance(reply, Big):
                text = b"".join(reply.steps()).decode()
                return Plain(200, text, content_type=reply.content_type)
            return reply
