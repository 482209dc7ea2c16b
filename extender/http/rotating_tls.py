"""TLS of a listener whose certificate and authority of clients may be replaced while it listens.

A connection begins with the context that is current then. OpenSSL verifies a client's certificate once, at
that beginning, so a connection counts as certified only while its context is still the current one.
"""

import ssl
from dataclasses import dataclass
from typing import Any

from extender.identity.request_header import common_name_of


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """Paths of a certificate with its chain, and of its key."""

    certificate: str
    key: str


class RotatingTls:
    """Contexts for the connections of one listener.

    Clients may have a certificate or none. One that the authority has not signed ends the handshake.
    """

    def __init__(self, files: ServingFiles, authority: str = "") -> None:
        self._files = files
        self._authority = authority
        self._current = self._loaded()
        self.context = self._loaded()
        """The context to listen with; it hands each connection on to the current one."""
        self.context.sni_callback = self._hand_on

    def trust(self, authority: str) -> None:
        """Believe certificates of this authority (PEM, empty for none) from now on.

        Connections that have begun are certified no more. Raises ssl.SSLError for what is no PEM, and
        changes nothing then.
        """
        before, self._authority = self._authority, authority
        try:
            self._current = self._loaded()
        except (ssl.SSLError, ValueError):
            self._authority = before
            raise

    def renew(self) -> None:
        """Read the files again. Raises OSError for files that do not fit, and changes nothing then."""
        self._current = self._loaded()

    def is_current(self, transport: Any) -> bool:
        """True if the connection began with the current context."""
        connection = transport.get_extra_info("ssl_object") if transport is not None else None
        return connection is not None and connection.context is self._current

    def certified_name(self, transport: Any) -> str | None:
        """The common name of the client's certificate, None without one that counts now."""
        if not self.is_current(transport):
            return None
        return common_name_of(transport.get_extra_info("peercert"))

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # A session that is resumed is not verified again. TLS 1.3 without tickets resumes none.
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
        context.load_cert_chain(self._files.certificate, self._files.key)
        if self._authority:
            context.load_verify_locations(cadata=self._authority)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _hand_on(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current
