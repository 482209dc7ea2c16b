"""Cross-origin headers of REST-1, for every origin or only for listed ones."""

from collections.abc import Callable, Collection

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.access.guarding import ADDED_HEADERS
from extender.http.endpoints import inner_path

ALLOWED_HEADERS = "X-Requested-With,Content-Type,Accept,Origin"
WITHOUT = ("/metrics", "/ws/v1/metrics")
"""Paths whose answers have none of these headers."""


def cors_guard(origins: Callable[[], Collection[str]], *, everyone: bool = False) -> Middleware:
    """Make a middleware that allows pages of other origins to read answers.

    ``origins()``: the allowed origins, read for each request. ``everyone``: True to allow every origin, as
    YuniKorn does. Preflight requests carry no token, so they are answered here.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin", "")
        allowed = "*" if everyone else origin if origin and origin in origins() else ""
        if allowed and inner_path(request) not in WITHOUT:
            request[ADDED_HEADERS] = _headers_for(request, allowed, everyone=everyone)
        if not everyone and allowed and _is_preflight(request):
            return web.Response(status=204)
        return await handler(request)

    return guarded


def _is_preflight(request: web.Request) -> bool:
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers


def _headers_for(request: web.Request, origin: str, *, everyone: bool) -> dict[str, str]:
    posts = inner_path(request) == "/ws/v1/validate-conf"
    headers = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "OPTIONS, POST" if posts else "GET, OPTIONS",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS if everyone else f"{ALLOWED_HEADERS},Authorization",
    }
    return headers if everyone else {**headers, "Vary": "Origin"}
