"""Mutual TLS between the instances of one Paddock, and the guard of the port at which the leader answers.

All instances have the same certificate. A standby shows it as a client, and the leader trusts only that.
The standby has authenticated and authorized the caller before.
"""

import base64
import binascii
import ssl
from collections.abc import Callable

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.access.delegated import USER
from extender.http.access.rotating_tls import RotatingTls, ServingSource, calling_context
from extender.http.connections import Connections
from extender.identity.caller import AuthenticatedUser

USER_HEADER = "X-Paddock-User"
"""Header in which a standby names the caller. No other port reads it."""

MISDIRECTED = 421
"""Status for a standby that asks an instance which does not lead."""

LARGEST_USER = 64 * 2**10
"""Bytes of that header at most: a user may have hundreds of user groups."""


class Peers:
    """Certificates of both ends. ``name``: a DNS name that the certificate of each instance has."""

    def __init__(self, name: str, connections: Connections) -> None:
        self.name = name
        self.calling: ssl.SSLContext | None = None
        """Return the TLS context for calls to the leader; None without a certificate to verify it by."""
        self.problem = ""
        self._connections = connections
        self._listening: RotatingTls | None = None
        self._authority = ""

    def show(self, source: ServingSource) -> None:
        """Use this certificate and trust its authority from now on. If that fails, `problem` says why."""
        try:
            authority = source.authority()
            self.calling = calling_context(source, authority) if authority else None
            self.problem = "" if authority else "no authority is known that instances share"
            self._listen(source, authority)
        except (OSError, ValueError) as error:
            self.calling, self.problem = None, str(error)

    def _listen(self, source: ServingSource, authority: str) -> None:
        if self._listening is None:
            self._listening = RotatingTls(source, authority, asks=ssl.CERT_REQUIRED)
        else:
            self._listening.renew(source)
            if authority != self._authority:
                self._listening.trust(authority)
                # Their next requests would be refused. Clients reconnect after an idle connection was closed.
                self._connections.close_idle()
        self._authority = authority

    def listening(self) -> ssl.SSLContext:
        """Return the TLS context for listening. Raises OSError before there is a certificate."""
        if self._listening is None:
            raise OSError(self.problem or "there is no certificate yet")
        return self._listening.context

    def is_peer(self, request: web.BaseRequest) -> bool:
        """True if the connection began with the certificate of an instance, which counts now."""
        transport = request.transport
        if self._listening is None or transport is None or not self._listening.is_certifying(transport):
            return False
        names = (transport.get_extra_info("peercert") or {}).get("subjectAltName", ())
        return ("DNS", self.name) in names


def peer_guard(peers: Peers, leads: Callable[[], bool]) -> Middleware:
    """Make a middleware that accepts only requests of other instances, while this one leads.

    No handler behind this guard passes a request on again.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not peers.is_peer(request):
            return _refused(403)
        if not leads():
            return _refused(MISDIRECTED)
        try:
            user = user_from(request.headers.getall(USER_HEADER, []))
        except ValueError:
            return _refused(403)
        if user is not None:
            request[USER] = user
        return await handler(request)

    return guarded


def _refused(status: int) -> web.Response:
    response = web.Response(status=status)
    response.force_close()
    return response


def user_header(user: AuthenticatedUser) -> str:
    """Encode a caller as the value of `USER_HEADER`. No name in it can break out of the value."""
    return base64.b64encode(msgspec.json.encode(user)).decode()


def user_from(headers: list[str]) -> AuthenticatedUser | None:
    """Return the caller that a standby names, or None. Raises ValueError for an invalid user."""
    if not headers:
        return None
    try:
        (value,) = headers
        return msgspec.json.decode(base64.b64decode(value, validate=True), type=AuthenticatedUser)
    except (binascii.Error, msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError("no user") from error
