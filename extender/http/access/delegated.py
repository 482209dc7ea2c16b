"""Guard of the listeners with a login: it authenticates and authorizes a caller before a handler runs.

A user is identified by a bearer token, or by headers on connections of the API server's proxy.
"""

from collections.abc import Callable

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.access.proxied import ProxiedUsers
from extender.identity.bearer import bearer_token_from
from extender.identity.caller import Access, AuthenticatedUser, PathAccess
from extender.identity.delegation import Delegation
from extender.identity.refusals import AccessRefused, NotAllowed, NotAuthenticated

USER = web.RequestKey("user", AuthenticatedUser)
"""Key under which a request stores its user."""

AccessOf = Callable[[web.Request], Access | None]
"""Function that returns the right that a request needs; None if authentication is enough.

Raises `AccessRefused` for a request that RBAC cannot name.
"""


def delegated_guard(
    delegation: Delegation, access_of: AccessOf, proxied: ProxiedUsers | None = None
) -> Middleware:
    """Make a middleware that answers only what the API server allows. It guards unknown paths, too."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            user = await _user_of(request, delegation, proxied)
            access = access_of(request)
            if access is not None:
                await delegation.authorize(user, access)
        except AccessRefused as error:
            return _refused(request, error)
        request[USER] = user
        return await handler(request)

    return guarded


def path_access_of(request: web.Request) -> PathAccess:
    """Return the right for the path exactly as the router reads it.

    Raises `NotAllowed` for an escaped slash, since routers read it differently and no path here needs one.
    """
    path = request.rel_url.path_safe
    if not path.startswith("/") or not path.isprintable() or "%2f" in path.lower():
        raise NotAllowed
    return PathAccess(path, request.method.lower())


async def _user_of(
    request: web.Request, delegation: Delegation, proxied: ProxiedUsers | None
) -> AuthenticatedUser:
    if proxied is not None and (user := proxied.user_of(request)) is not None:
        return user
    return await delegation.authenticate(bearer_token_from(request.headers.getall("Authorization", [])))


def _refused(request: web.Request, error: AccessRefused) -> web.Response:
    """Make an answer with an error by REST-2."""
    body = {"status_code": error.status, "message": str(error), "description": str(error)}
    response = web.Response(
        status=error.status,
        body=msgspec.json.encode(body) + b"\n",
        headers={"Content-Type": "application/json; charset=UTF-8"},
    )
    if isinstance(error, NotAuthenticated):
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    if request.can_read_body:
        # The body was not read, so the connection cannot serve another request.
        response.force_close()
    return response
