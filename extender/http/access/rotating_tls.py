"""TLS of a listener whose certificate and client authority can be replaced while it listens.

A connection uses the context that is current when it begins. OpenSSL verifies a client's certificate only
then. So a connection counts as certified only while its context has the current authority.
"""

import hashlib
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from extender.certificates.issuing import KeyPair
from extender.identity.request_header import common_name_of


class ServingSource(Protocol):
    """Source of a certificate chain and its key."""

    def load(self, context: ssl.SSLContext) -> None:
        """Load both into a context. Raises OSError for parts that do not match."""
        ...

    def version(self) -> bytes:
        """Digest of both, by which a change is seen. Raises OSError."""
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
        """Read both files."""
        context.load_cert_chain(self.certificate, self.key)

    def version(self) -> bytes:
        """Read both files."""
        return _digest(Path(self.certificate).read_bytes(), Path(self.key).read_bytes())

    def authority(self) -> str:
        """Read its file anew."""
        return Path(self.ca).read_text(encoding="ascii", errors="replace") if self.ca else ""


@dataclass(frozen=True, slots=True)
class ServingPair:
    """A certificate and its key in memory. ``trusted``: certificates that other instances may show."""

    pair: KeyPair
    trusted: str = ""

    def load(self, context: ssl.SSLContext) -> None:
        """Load both from an anonymous file in memory, since OpenSSL reads only files."""
        descriptor = os.memfd_create("paddock-serving")
        try:
            os.write(descriptor, (self.pair.key + self.pair.certificate).encode())
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)

    def version(self) -> bytes:
        """Both are in memory."""
        return _digest(self.pair.certificate.encode(), self.pair.key.encode())

    def authority(self) -> str:
        """Each certificate is its own authority."""
        return self.trusted


def _digest(certificate: bytes, key: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(certificate).digest() + hashlib.sha256(key).digest()).digest()


class RotatingTls:
    """TLS contexts for the connections of one listener.

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
        self._version = source.version()
        self._current = self._loaded()
        self._certifying = [self._current]
        self.context = self._loaded()
        """TLS context for the listener. It hands each connection to the current context."""
        self.context.sni_callback = self._hand_on

    def trust(self, authority: str) -> None:
        """Accept client certificates of this authority from now on. ``authority``: PEM, or empty for none.

        Existing connections are no longer certified. Raises ssl.SSLError for invalid PEM, and changes
        nothing then.
        """
        before, self._authority = self._authority, authority
        try:
            self._current = self._loaded()
        except (ssl.SSLError, ValueError):
            self._authority = before
            raise
        self._certifying = [self._current]

    def renew(self, source: ServingSource | None = None) -> None:
        """Serve the certificate of ``source`` from now on, or load the present source again.

        Existing connections stay certified. Raises OSError for parts that do not match, and changes nothing
        then. Parts that are as before cost nothing.
        """
        wanted = source or self._source
        version = wanted.version()
        if version == self._version:
            return
        before, self._source = self._source, wanted
        try:
            self._current = self._loaded()
        except OSError:
            self._source = before
            raise
        self._version = version
        self._certifying.append(self._current)

    def is_certifying(self, transport: Any) -> bool:
        """True if the connection began with a context of the current authority."""
        connection = transport.get_extra_info("ssl_object") if transport is not None else None
        return connection is not None and any(connection.context is each for each in self._certifying)

    def certified_name(self, transport: Any) -> str | None:
        """Return the common name of the client's certificate; None unless the connection is certified."""
        if not self.is_certifying(transport):
            return None
        return common_name_of(transport.get_extra_info("peercert"))

    def _loaded(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # A resumed session would not be verified again. TLS 1.3 without tickets resumes no session.
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
