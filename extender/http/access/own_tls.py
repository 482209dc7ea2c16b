"""Mutual TLS of the verbs' port, with certificates that Paddock makes, renews and shares by Secrets."""

import secrets
import ssl
import time
from collections.abc import Callable, Mapping

from core.errors import PaddockError
from extender.certificates.authority import Authority
from extender.certificates.issuing import BACKDATED, Validity, self_signed, service_names, validity_of
from extender.certificates.keeper import AuthorityKeeper
from extender.certificates.rotation import ServingPairs
from extender.certificates.shared_secret import Client
from extender.http.access.rotating_tls import RotatingTls, ServingPair

CHECK = "certificates"
"""Name of the condition of readiness."""


class OwnTls:
    """TLS that requires a client certificate of Paddock's own authority.

    Until the authority is known, every handshake fails and `checks` names the reason. Open connections stay.
    ``client_secret``: name of the Secret with the files of kube-scheduler. ``is_missing(error)``: true for
    an answer of 404. ``renewed(made, ends)``: called for each certificate of kube-scheduler that is new to
    this instance, with seconds since 1970.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        client_secret: str,
        is_missing: Callable[[PaddockError], bool],
        renewed: Callable[[float, float], None],
    ) -> None:
        # No client can have a certificate of it, since its key is thrown away.
        nothing = self_signed((secrets.token_hex(8),), now=time.time())
        self._tls = RotatingTls(ServingPair(nothing), nothing.certificate, asks=ssl.CERT_REQUIRED)
        self._renewed = renewed
        self._client: Validity | None = None
        self._trusted = nothing.certificate
        self._keeper = AuthorityKeeper(
            client,
            namespace=namespace,
            client_secret=client_secret,
            names=service_names(namespace),
            serve=self._serve,
            show=self._show,
            wall=time.time,
            is_missing=is_missing,
        )

    @property
    def context(self) -> ssl.SSLContext:
        """The context for the listener."""
        return self._tls.context

    async def run(self) -> None:
        """Make, read and renew certificates until cancelled."""
        await self._keeper.run()

    async def check(self) -> None:
        """Read the Secrets once, and renew what is due."""
        await self._keeper.check()

    def checks(self) -> Mapping[str, str]:
        """Return the condition of readiness: empty once the port can be called."""
        return {CHECK: "" if self._keeper.served else self._keeper.problem}

    def notes(self) -> Mapping[str, str]:
        """Return lines for ``/readyz?verbose``."""
        return {
            "certificates of the verbs": self._keeper.problem,
            "certificate of kube-scheduler": _advice(self._client) if self._client else "",
        }

    def _serve(self, authority: Authority) -> None:
        trusted = authority.pairs.trusted
        if trusted != self._trusted:
            self._tls.trust(trusted)
            self._trusted = trusted
        self._tls.renew(ServingPair(authority.server))

    def _show(self, client: ServingPairs) -> None:
        self._client = validity = validity_of(client.served)
        self._renewed(validity.since + BACKDATED, validity.until)


def _advice(client: Validity) -> str:
    made, ends = (_shown(each) for each in (client.since + BACKDATED, client.until))
    return f"made {made}, ends {ends}; restart kube-scheduler if it started before it was made"


def _shown(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
