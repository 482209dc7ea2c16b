"""Keepers of the Secrets with certificates: that of the ports with a login, and those of the verbs' port."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from core.errors import PaddockError
from extender.certificates.authority import (
    Authority,
    authority_at,
    authority_from,
    client_at,
    data_of_authority,
)
from extender.certificates.publishing import Publication
from extender.certificates.rotation import ServingPairs, advanced, data_of, pairs_from
from extender.certificates.shared_secret import Client, SharedSecret

SECRET = "paddock-serving"  # noqa: S105 - a name
AUTHORITY_SECRET = "paddock-authority"  # noqa: S105 - a name
SECRETS = (SECRET, AUTHORITY_SECRET)
"""Names of the Secrets that only Paddock reads."""

CHECKED_EVERY = 60.0
"""Seconds between two checks of the Secret."""

TRIED_EVERY = 5.0
"""Seconds between two checks until the verbs' port has a certificate."""


class CertificateKeeper:
    """Keeper of one Secret, which hands on its pairs.

    ``names``: host names and addresses of the certificate; ``serve(pairs)``: called for each pair to show.
    ``wall``: seconds since 1970; ``is_missing(error)``: true for an answer of 404.
    ``publications``: objects of the API server that are told what to trust, asked at each check.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        names: Callable[[], Collection[str]],
        serve: Callable[[ServingPairs], None],
        wall: Callable[[], float],
        is_missing: Callable[[PaddockError], bool],
        publications: Callable[[], Sequence[Publication]],
    ) -> None:
        self.problem = ""
        self._client = client
        self._secret = SharedSecret(client, namespace, SECRET, is_missing)
        self._names = names
        self._serve = serve
        self._wall = wall
        self._is_missing = is_missing
        self._publications = publications
        self._served: ServingPairs | None = None

    async def run(self) -> None:
        """Check the Secret regularly until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(CHECKED_EVERY)

    async def check(self) -> None:
        """Read the Secret, renew its pair if that is due, serve the pair, and publish it to clients.

        If the Secret cannot be used, this process serves a pair of its own, and `problem` says why.
        """
        try:
            pairs = await self._secret.advanced(
                pairs_from, lambda before: advanced(before, self._names(), now=self._wall()), data_of
            )
            self._hand_on(pairs)
            for each in self._publications():
                await each.publish(self._client, pairs.trusted, self._is_missing)
            self.problem = ""
        except PaddockError as error:
            self.problem = str(error)
            if self._served is None:
                self._hand_on(advanced(None, self._names(), now=self._wall()))

    def _hand_on(self, pairs: ServingPairs) -> None:
        if pairs != self._served:
            self._served = pairs
            self._serve(pairs)


class AuthorityKeeper:
    """Keeper of the authority's Secret, and of the Secret with the files of kube-scheduler.

    ``names``: host names and addresses of the verbs' port; ``client_secret``: name of the second Secret.
    ``serve(authority)``, ``show(client)``: called for new contents of each. Both may raise OSError.
    ``wall``, ``is_missing``: as of `CertificateKeeper`.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        client_secret: str,
        names: Collection[str],
        serve: Callable[[Authority], None],
        show: Callable[[ServingPairs], None],
        wall: Callable[[], float],
        is_missing: Callable[[PaddockError], bool],
    ) -> None:
        self.problem = "no certificate was made yet"
        self.served: Authority | None = None
        """The authority whose certificate the port shows."""
        self._names = names
        self._serve = serve
        self._show = show
        self._wall = wall
        self._authority = SharedSecret(client, namespace, AUTHORITY_SECRET, is_missing)
        self._client = SharedSecret(client, namespace, client_secret, is_missing)
        self._shown: ServingPairs | None = None

    async def run(self) -> None:
        """Check both Secrets regularly until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(CHECKED_EVERY if self.served else TRIED_EVERY)

    async def check(self) -> None:
        """Read both Secrets, renew what is due, and hand on what is new. `problem` says what failed."""
        try:
            await self._check()
            self.problem = ""
        except (PaddockError, OSError) as error:
            self.problem = str(error)

    async def _check(self) -> None:
        now = self._wall()
        authority = await self._authority.advanced(
            authority_from, lambda before: authority_at(before, self._names, now=now), data_of_authority
        )
        if authority != self.served:
            self._serve(authority)
            self.served = authority
        # Only now: the port must trust an authority before a client shows a certificate of it.
        client = await self._client.advanced(
            pairs_from, lambda before: client_at(before, authority, now=now), data_of
        )
        if client != self._shown:
            self._show(client)
            self._shown = client
