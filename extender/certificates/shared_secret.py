"""A Secret that every instance reads, and any instance may renew.

If two instances write concurrently, the API server accepts one write. The other instance reads its result.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from core.errors import PaddockError
from extender.certificates.publishing import Bearer

T = TypeVar("T")


class Client(Bearer, Protocol):
    """Part of a client that a Secret needs. Each method raises PaddockError."""

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
    #: Kubernetes' type of the Secret, which cannot be changed.
    type: str = "Opaque"


class SharedSecret:
    """A Secret by namespace and name. ``is_missing(error)``: true for an answer of 404."""

    def __init__(
        self, client: Client, namespace: str, name: str, is_missing: Callable[[PaddockError], bool]
    ) -> None:
        self._client = client
        self._folder = f"/api/v1/namespaces/{namespace}/secrets"
        self._name = name
        self._is_missing = is_missing

    async def advanced(
        self,
        read: Callable[[Mapping[str, str]], T | None],
        advance: Callable[[T | None], T],
        data_of: Callable[[T], Mapping[str, str]],
    ) -> T:
        """Read the contents, advance them, and write them if they have changed.

        ``advance``: gets None for contents that cannot be read, and returns the same object if nothing is
        due. Raises PaddockError, also if the Secret was written meanwhile.
        """
        found = await self._read()
        before = read((found.data if found else None) or {})
        after = advance(before)
        if after is not before:
            await self._write(data_of(after), found)
        return after

    async def _read(self) -> _Secret | None:
        try:
            return msgspec.json.decode(await self._client.get(f"{self._folder}/{self._name}"), type=_Secret)
        except msgspec.MsgspecError:
            raise PaddockError(f"the Secret {self._name} is not readable") from None
        except PaddockError as error:
            if not self._is_missing(error):
                raise
            return None

    async def _write(self, data: Mapping[str, str], found: _Secret | None) -> None:
        """Create the Secret, or replace the version that was read. Raises PaddockError if it has changed."""
        metadata = {"name": self._name}
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        if found is None:
            await self._client.post(self._folder, msgspec.json.encode(body))
            return
        metadata["resourceVersion"] = found.metadata.resource_version
        body["type"] = found.type
        await self._client.put(f"{self._folder}/{self._name}", msgspec.json.encode(body))
