"""Users whom the API server's proxy vouches for: by headers, on connections that are surely its own."""

import ssl

from aiohttp import web

from extender.http.access.rotating_tls import RotatingTls
from extender.http.connections import Connections
from extender.identity.caller import AuthenticatedUser
from extender.identity.request_header import FrontProxy


class ProxiedUsers:
    """The users of one listener's connections, as `FrontProxy` describes the proxy now."""

    def __init__(self, tls: RotatingTls, connections: Connections) -> None:
        self._tls = tls
        self._connections = connections
        self._proxy: FrontProxy | None = None
        self._authority = ""

    @property
    def context(self) -> ssl.SSLContext:
        """The context to listen with."""
        return self._tls.context

    def follow(self, proxy: FrontProxy | None) -> None:
        """Believe this proxy from now on; None, or an authority that cannot be read: no connection."""
        authority = proxy.authority if proxy else ""
        if authority != self._authority:
            try:
                self._tls.trust(authority)
            except (ssl.SSLError, ValueError):
                proxy, authority = None, ""
                self._tls.trust(authority)
            self._authority = authority
            # Their next requests would not be believed. Clients begin anew where an idle one was closed.
            self._connections.close_idle()
        self._proxy = proxy

    def user_of(self, request: web.BaseRequest) -> AuthenticatedUser | None:
        """The user in the headers of a request, None if the connection is not the proxy's.

        The headers of others are not read. Raises `NotAuthenticated` for headers that name no user.
        """
        name = self._tls.certified_name(request.transport)
        if self._proxy is None or name is None or not self._proxy.is_proxy(name):
            return None
        return self._proxy.user_from(list(request.headers.items()))
