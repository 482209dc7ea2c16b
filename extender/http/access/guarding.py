"""Headers of every answer, and the guard of the listener that asks for no login.

A browser on a machine with a port-forward runs pages of other sites. Requests of such a page are refused.
They have another Host (DNS rebinding) or a foreign Origin, or come from a form, an image or a script.
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
"""Where a guard leaves further headers of the answer, also of one that is sent in pieces."""


def _none_listed() -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Names and origins that may reach loopback besides its own, asked at each request.

    ``hosts``: further names of the Host header, as `host_name_from` writes them; ``origins``: such as
    ``https://ui.example:8443``.
    """

    hosts: Callable[[], Collection[str]] = _none_listed
    origins: Callable[[], Collection[str]] = _none_listed


async def add_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """A signal for each answer, also one that says 404; what a handler has set itself stays."""
    for name, value in request.get(ADDED_HEADERS, {}).items():
        response.headers.add(name, value)
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)


def loopback_guard(neighbours: Neighbours) -> Middleware:
    """A middleware that answers 403 to what does not come from this machine itself."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _refusal_of(request, neighbours)
        if not refusal:
            return await handler(request)
        response = web.json_response({"error": refusal}, status=403)
        # Its body is not read.
        response.force_close()
        return response

    return guarded


def _refusal_of(request: web.Request, neighbours: Neighbours) -> str:
    """Why a request is not answered, empty if it is. Nothing of the request is repeated."""
    headers = request.headers
    hosts = headers.getall("Host", [])
    # A target with a host of its own would be believed instead of the header.
    if not request.raw_path.startswith("/") or not is_own_host(hosts, neighbours.hosts()):
        return "Host is no name of loopback and not listed in paddock.rest.hosts"
    origins = headers.getall("Origin", [])
    if origins:
        # Of a listed origin browsers say, too, that it is another site.
        own = is_own_origin(origins, hosts[0], neighbours.origins())
        return "" if own else "a foreign Origin is not answered"
    site, mode = headers.get("Sec-Fetch-Site", ""), headers.get("Sec-Fetch-Mode", "")
    return (
        "a request of another site is not answered" if is_from_elsewhere(request.method, site, mode) else ""
    )
