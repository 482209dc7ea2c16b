"""Endpoints, and the application that serves them behind the guards of one listener.

All listeners share their handlers. They differ in their guards and in the prefix of their paths.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.access.guarding import add_headers
from extender.http.door import DOOR, Door, guard

PREFIX = web.AppKey("prefix", str)
"""Key under which an application stores the prefix of its paths; empty for none."""

ANY_METHOD = "*"
_PART = re.compile(r"\{(\w+)(:[^}]*)?\}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Endpoint. ``method``: `ANY_METHOD` for all methods; ``path``: a pattern of aiohttp's router.

    ``about``: what it answers, for the index; ``by_leader``: True for what only the leader can answer.
    """

    method: str
    path: str
    handler: Handler
    about: str = ""
    by_leader: bool = False


def _as_it_is(handler: Handler) -> Handler:
    return handler


def guarded_app(
    endpoints: Sequence[Endpoint],
    door: Door,
    *guards: Middleware,
    prefix: str = "",
    beside: Sequence[Endpoint] = (),
    passing: Callable[[Handler], Handler] = _as_it_is,
) -> web.Application:
    """Make an application that answers the requests that pass all guards. Guards run in their order.

    ``prefix``: path before those of ``endpoints``; ``beside``: endpoints without it.
    ``passing``: what becomes of a handler whose answer only the leader has.
    A handler finds the listener's door at `DOOR`, and its own path by `inner_path`.
    """
    app = web.Application(middlewares=[guard(door), *guards])
    app.on_response_prepare.append(add_headers)
    app[DOOR], app[PREFIX] = door, prefix
    index = () if any(each.path == "/" for each in endpoints) else (Endpoint("GET", "/", _index(endpoints)),)
    for before, each in [
        *((prefix, each) for each in (*endpoints, *index)),
        *(("", each) for each in beside),
    ]:
        handler = passing(each.handler) if each.by_leader else each.handler
        if each.method == "GET":
            app.router.add_get(f"{before}{each.path}", handler)
        else:
            app.router.add_route(each.method, f"{before}{each.path}", handler)
    return app


def _index(endpoints: Sequence[Endpoint]) -> Handler:
    """Make a handler that lists the endpoints, one in each line, sorted by path."""
    rows = sorted(
        (_shown(each.path), each.method.replace(ANY_METHOD, "GET"), each.about) for each in endpoints
    )
    width = max((len(path) for path, _, _ in rows), default=0)
    lines = (f"{method:4} {path:{width}}  {about}".rstrip() for path, method, about in rows)
    text = "\n".join(["Paddock answers here:", "", *lines, ""])

    async def index(_request: web.Request) -> web.Response:
        return web.Response(text=text)

    return index


def _shown(path: str) -> str:
    """Format a pattern for people: parameters in capitals, and dots for an arbitrary remainder."""
    return _PART.sub(lambda found: "..." if found[2] else found[1].upper(), path)


def inner_path(request: web.Request) -> str:
    """Return the path of a request, still escaped, without the listener's prefix and without the query."""
    return request.raw_path.partition("?")[0].removeprefix(request.app[PREFIX])


def outer_path(request: web.Request) -> str:
    """Return the listener's prefix if the path of a request begins with it, and else an empty text."""
    prefix = request.app[PREFIX]
    return prefix if request.raw_path.startswith(prefix) else ""
