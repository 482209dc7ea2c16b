"""Guards of one listener: its connections, its bodies, and the handlers that report both."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.connections import Connections
from extender.http.intake import BodyFault, Intake

Handle = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Door:
    """One listener's guards. They are shared by all of its requests."""

    connections: Connections = field(default_factory=Connections)
    intake: Intake = field(default_factory=Intake)

    def watching(self, handle: Handle) -> Handle:
        """The same handler, during whose work its connection counts as being answered."""
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
"""Where an application keeps its own, for whoever listens for it."""


def guard(door: Door) -> Middleware:
    """A middleware for an application whose handlers know nothing of its door."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await door.watching(handler)(request)  # type: ignore[arg-type]
        except BodyFault as error:
            response = web.json_response({"error": str(error)}, status=error.status)
            response.force_close()
            return response

    return guarded
