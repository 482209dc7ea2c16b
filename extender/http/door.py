"""Limits of a listener on connections and bodies, and their use by handlers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.connections import Connections
from extender.http.intake import BodyFault, BodyLimits, Intake

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Door:
    """Limits that are shared by all requests of a listener."""

    connections: Connections = field(default_factory=Connections)
    intake: Intake = field(default_factory=Intake)

    async def body_of(self, request: web.BaseRequest, limits: BodyLimits) -> bytes:
        """Read the body of a request. Raises `BodyFault`."""
        encoding = request.headers.get("Content-Encoding", "")
        length = request.content_length
        return await self.intake.body_of(request.content, limits, encoding=encoding, length=length)

    def watching(self, handle: Handle) -> Handle:
        """Wrap a handler, so that its connection counts as being answered while the handler runs."""
        connections = self.connections

        async def watched(request: web.BaseRequest) -> web.StreamResponse:
            transport = request.transport
            connections.called(transport)
            try:
                return await handle(request)
            finally:
                connections.answered(transport)

        return watched


DOOR = web.AppKey("door", Door)
"""Key under which an application stores its door."""


def guard(door: Door) -> Middleware:
    """Make a middleware that applies a door to all handlers of an application."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await door.watching(handler)(request)  # type: ignore[arg-type]
        except BodyFault as error:
            response = web.json_response({"error": str(error)}, status=error.status)
            response.force_close()
            return response

    return guarded
