"""TLS of a listener whose certificate and authority of clients may be replaced while it listens.

A connection begins with the context that is current then. OpenSSL verifies a client's certificate once, at
that beginning. So a connection counts as certified only while its context has the authority of now.
"""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from extender.certificates.issuing import KeyPair
from extender.identity.request_header import common_name_of


class ServingSource(Protocol):
    """Place from which a certificate with its chain and its key are loaded."""

    def load(self, context: ssl.SSLContext) -> None:
        """Load both into a context. Raises OSError for parts that do not fit."""
        ...

    def authority(self) -> str:
        """Authority of the certificates of all instances, as PEM; empty if it is not known.

        Raises OSError.
        """
        ...


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """Paths of a certificate with its chain, of its key, and of its authority if instances share one."""

    certificate: str
    key: str
    ca: str = ""

    def load(self, context: ssl.SSLContext) -> None:
        """Read both files anew."""
        context.load_cert_chain(self.certificate, self.key)

    def authority(self) -> str:
        """Read its file anew."""
        return Path(self.ca).read_text(encoding="ascii", errors="replace") if self.ca else ""


@dataclass(frozen=True, slots=True)
class ServingPair:
    """A certificate and its key that stand in no file. ``trusted``: what other instances may show."""

    pair: KeyPair
    trusted: str = ""

    def load(self, context: ssl.SSLContext) -> None:
        """OpenSSL reads files alone, so this is one in memory that no other process can open by a name."""
        descriptor = os.memfd_create("paddock-serving")
        try:
            os.write(descriptor, (self.pair.key + self.pair.certificate).encode())
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)

    def authority(self) -> str:
        """Each certificate is its own authority."""
        return self.trusted


class RotatingTls:
    """Contexts for the connections of one listener.

    Clients may have a certificate or none. One that the authority has not signed ends the handshake.
    ``asks``: ``CERT_NONE`` for a listener that asks for no certificate, ``CERT_REQUIRED`` for one that
    ends the handshake without it.
    """

    def __init__(
        self, source: ServingSource, authority: str = "", *, asks: ssl.VerifyMode = ssl.CERT_OPTIONAL
    ) -> None:
        self._source = source
        self._asks = asks
        self._authority = authority
        self._current = self._loaded()
        self._certifying = [self._current]
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
        self._certifying = [self._current]

    def renew(self, source: ServingSource | None = None) -> None:
        """Show this certificate from now on, or what the present source says now.

        Connections that have begun stay certified. Raises OSError for parts that do not fit, and changes
        nothing then.
        """
        before, self._source = self._source, source or self._source
        try:
            self._current = self._loaded()
        except OSError:
            self._source = before
            raise
        self._certifying.append(self._current)

    def is_certifying(self, transport: Any) -> bool:
        """True if the connection began with a context of the present authority."""
        connection = transport.get_extra_info("ssl_object") if transport is not None else None
        return connection is not None and any(connection.context is each for each in self._certifying)

    def certified_name(self, transport: Any) -> str | None:
        """The common name of the client's certificate, None without one that counts now."""
        if not self.is_certifying(transport):
            return None
        return common_name_of(transport.get_extra_info("peercert"))

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # A session that is resumed is not verified again. TLS 1.3 without tickets resumes none.
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
        self._source.load(context)
        if self._authority:
            context.load_verify_locations(cadata=self._authority)
        context.verify_mode = self._asks
        return context

    def _hand_on(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current


def calling_context(source: ServingSource, authority: str) -> ssl.SSLContext:
    """The context to call another instance with. Raises OSError for parts that do not fit, or ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    source.load(context)
    context.load_verify_locations(cadata=authority)
    return context
