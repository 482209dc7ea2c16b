"""The Secret with the serving certificate. Every instance reads it, and any instance may renew it.

If two instances write concurrently, the API server accepts one write. The other instance reads its result.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import msgspec

from core.errors import PaddockError
from extender.certificates.publishing import Bearer, Publication
from extender.certificates.rotation import ServingPairs, advanced, data_of, pairs_from

SECRET = "paddock-serving"  # noqa: S105 - a name

CHECKED_EVERY = 60.0
"""Seconds between two checks of the Secret."""


class Client(Bearer, Protocol):
    """Part of a client that the keeper needs. Each method raises PaddockError."""

    async def post(self, path: str, body: bytes) -> bytes:
        """Send a POST and return the body of its answer."""
        ...

    async def put(self, path: str, body: bytes) -> bytes:
        """Send a PUT and return the body of its answer."""
        ...


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Secret(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    data: dict[str, str] | None = None


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
        self._folder = f"/api/v1/namespaces/{namespace}/secrets"
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
            pairs = await self._shared()
            self._hand_on(pairs)
            for each in self._publications():
                await each.publish(self._client, pairs.trusted, self._is_missing)
            self.problem = ""
        except PaddockError as error:
            self.problem = str(error)
            if self._served is None:
                self._hand_on(advanced(None, self._names(), now=self._wall()))

    async def _shared(self) -> ServingPairs:
        try:
            found = msgspec.json.decode(await self._client.get(f"{self._folder}/{SECRET}"), type=_Secret)
        except msgspec.MsgspecError:
            raise PaddockError("the Secret is not readable") from None
        except PaddockError as error:
            if not self._is_missing(error):
                raise
            found = None
        before = pairs_from((found.data if found else None) or {})
        pairs = advanced(before, self._names(), now=self._wall())
        if pairs is not before:
            await self._write(pairs, found)
        return pairs

    async def _write(self, pairs: ServingPairs, found: _Secret | None) -> None:
        """Create the Secret, or replace the version that was read. Raises PaddockError if it has changed."""
        metadata = {"name": SECRET}
        if found is not None:
            metadata["resourceVersion"] = found.metadata.resource_version
        body = msgspec.json.encode(
            {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data_of(pairs)}
        )
        if found is None:
            await self._client.post(self._folder, body)
        else:
            await self._client.put(f"{self._folder}/{SECRET}", body)

    def _hand_on(self, pairs: ServingPairs) -> None:
        if pairs != self._served:
            self._served = pairs
            self._serve(pairs)
