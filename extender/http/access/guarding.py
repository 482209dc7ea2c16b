"""Security headers of every answer, and the guard of the listener without a login.

A browser beside a port-forward may run pages of other sites. The guard refuses their requests. These have
a foreign Host (DNS rebinding) or a foreign Origin, or come from a form, an image or a script.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.access.hosts import is_from_elsewhere, is_own_host, is_own_origin

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "frame-ancestors 'none'",
}

ADDED_HEADERS = web.RequestKey("added headers", Mapping[str, str])
"""Key under which a guard stores further headers of the answer, even of one that is sent in pieces."""


def _none_listed() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Further hosts and origins that may reach loopback, read for each request.

    ``hosts()``: names in the Host header, in the form of `host_name_from`. ``origins()``: values such as
    ``https://ui.example:8443``.
    """

    hosts: Callable[[], Collection[str]] = _none_listed
    origins: Callable[[], Collection[str]] = _none_listed


async def add_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Add headers to every answer, as a signal of aiohttp. Headers that a handler has set remain."""
    for name, value in request.get(ADDED_HEADERS, {}).items():
        response.headers.add(name, value)
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)


def loopback_guard(neighbours: Neighbours) -> Middleware:
    """Make a middleware that answers 403 to requests from other machines or other sites."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _refusal_of(request, neighbours)
        if not refusal:
            return await handler(request)
        response = web.json_response({"error": refusal}, status=403)
        # The body was not read, so the connection cannot serve another request.
        response.force_close()
        return response

    return guarded


def _refusal_of(request: web.Request, neighbours: Neighbours) -> str:
    """Return why a request is refused, or an empty text. The text repeats nothing of the request."""
    headers = request.headers
    hosts = headers.getall("Host", [])
    # aiohttp would use the host in an absolute target instead of the header.
    if not request.raw_path.startswith("/") or not is_own_host(hosts, neighbours.hosts()):
        return "Host is no name of loopback and not listed in paddock.rest.hosts"
    origins = headers.getall("Origin", [])
    if origins:
        # Browsers report a listed origin as another site, too.
        own = is_own_origin(origins, hosts[0], neighbours.origins())
        return "" if own else "a foreign Origin is not answered"
    site, mode = headers.get("Sec-Fetch-Site", ""), headers.get("Sec-Fetch-Mode", "")
    return (
        "a request of another site is not answered" if is_from_elsewhere(request.method, site, mode) else ""
    )
