"""Users named in headers by the API server's proxy, on connections with the proxy's certificate."""

import ssl

from aiohttp import web

from extender.http.access.rotating_tls import RotatingTls
from extender.http.connections import Connections
from extender.identity.caller import AuthenticatedUser
from extender.identity.request_header import FrontProxy


class ProxiedUsers:
    """Users of one listener's connections. A `FrontProxy` describes the proxy."""

    def __init__(self, tls: RotatingTls, connections: Connections) -> None:
        self._tls = tls
        self._connections = connections
        self._proxy: FrontProxy | None = None
        self._authority = ""

    @property
    def context(self) -> ssl.SSLContext:
        """TLS context for the listener."""
        return self._tls.context

    def follow(self, proxy: FrontProxy | None) -> None:
        """Accept this proxy from now on. With None or an unreadable authority, no connection is accepted."""
        authority = proxy.authority if proxy else ""
        if authority != self._authority:
            try:
                self._tls.trust(authority)
            except (ssl.SSLError, ValueError):
                proxy, authority = None, ""
                self._tls.trust(authority)
            self._authority = authority
            # Their next requests would be refused. Clients reconnect after an idle connection was closed.
            self._connections.close_idle()
        self._proxy = proxy

    def user_of(self, request: web.BaseRequest) -> AuthenticatedUser | None:
        """Return the user in the headers of a request; None if the connection is not the proxy's.

        Headers on other connections are not read. Raises `NotAuthenticated` for headers that name no user.
        """
        name = self._tls.certified_name(request.transport)
        if self._proxy is None or name is None or not self._proxy.is_proxy(name):
            return None
        return self._proxy.user_from(list(request.headers.items()))
