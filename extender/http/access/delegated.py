"""Guard of the listeners that ask for a login: who calls, and whether they may, before a handler is reached.

A user is known by the headers of the API server's proxy, on its own connections, or by a bearer token.
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
"""Where a handler finds who calls."""

AccessOf = Callable[[web.Request], Access | None]
"""The right that a request needs, None if being known is enough.

Raises `AccessRefused` for what has no name in RBAC.
"""


def delegated_guard(
    delegation: Delegation, access_of: AccessOf, proxied: ProxiedUsers | None = None
) -> Middleware:
    """A middleware that lets through whom the API server knows and allows; others get no 404 either."""

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
    """The path as the router reads it, so that what is allowed is what is answered.

    An escaped slash means nothing in any path here, and routers differ over it.
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
    """The error as REST-2 has it."""
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
        # Its body is not read.
        response.force_close()
    return response
