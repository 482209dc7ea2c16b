"""Mutual TLS of the verbs' port, from files that are read again, so that their renewal needs no restart."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from extender.http.access.rotating_tls import RotatingTls, ServingFiles

CHECKED_EVERY = 60.0
"""Seconds between two readings of the files."""


@dataclass(frozen=True, slots=True)
class MutualTls:
    """Files with the certificate and key of the verbs' port, and with the authority of its clients."""

    certificate: str
    key: str
    client_ca: str

    def authority(self) -> str:
        """Read the certificates that sign clients' certificates. Raises OSError."""
        return Path(self.client_ca).read_text(encoding="ascii", errors="replace")


class RenewedTls:
    """TLS that requires a client certificate, and serves what the files hold now.

    Open connections stay. ``failed``: called once with each reason why the files cannot be used.
    Raises OSError for files that cannot be used at the start.
    """

    def __init__(self, files: MutualTls, failed: Callable[[str], None]) -> None:
        self._files = files
        self._failed = failed
        self._problem = ""
        self._authority = files.authority()
        source = ServingFiles(files.certificate, files.key)
        self._tls = RotatingTls(source, self._authority, asks=ssl.CERT_REQUIRED)

    @property
    def context(self) -> ssl.SSLContext:
        """The context for the listener."""
        return self._tls.context

    async def run(self) -> None:
        """Read the files again and again until cancelled."""
        while True:
            await asyncio.sleep(CHECKED_EVERY)
            self.check()

    def check(self) -> None:
        """Read the files once. Files that cannot be used change nothing."""
        try:
            authority = self._files.authority()
            if authority != self._authority:
                self._tls.trust(authority)
                self._authority = authority
            self._tls.renew()
        except (OSError, ValueError) as error:
            problem = str(error)
        else:
            problem = ""
        if problem and problem != self._problem:
            self._failed(problem)
        self._problem = problem
