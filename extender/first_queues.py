"""First queues of an installation, copied once from a ConfigMap of the chart and never again (F-4, F-5).

The marker ``paddock-installation`` says that the cluster had a document. Where it exists, a missing document
is a loss, and the copy is not made.
"""

import asyncio
from typing import Protocol

import msgspec

from core.errors import PaddockError
from extender.configuration.reload import LiveConfiguration
from extender.configuration.sources import CONFIGS_NAME, has_content
from extender.kube.connection.api import Conflict, NotFound
from extender.kube.connection.client import ApiClient
from extender.queueconfig.load import load_document
from extender.telemetry.logs import Logger

INITIAL_NAME = "paddock-initial-queues"
MARKER_NAME = "paddock-installation"
DOCUMENT_KEY = "queues.yaml"

CHECKED_EVERY = 2.0
"""Seconds between two checks, until a document is in force."""

_HAD = f"there were queues before, so {INITIAL_NAME} is not copied again: create ConfigMap {CONFIGS_NAME}"
_EXISTS = f"ConfigMap {CONFIGS_NAME} has no document and is not Paddock's to change: add {DOCUMENT_KEY} to it"


class _Metadata(msgspec.Struct):
    name: str


class _ConfigMap(msgspec.Struct, rename="camel"):
    """ConfigMap, as far as it is read and written here."""

    metadata: _Metadata
    data: dict[str, str] | None = None
    api_version: str = "v1"
    kind: str = "ConfigMap"


class Lead(Protocol):
    """The part of leadership that is needed here."""

    @property
    def held(self) -> bool:
        """True if this instance may act."""
        ...


class FirstQueues:
    """Copies the first document, and creates the marker. Only the leader writes anything."""

    def __init__(
        self, client: ApiClient, namespace: str, found: LiveConfiguration, lead: Lead, log: Logger
    ) -> None:
        #: Why there is no copy, or no marker; empty if neither is needed.
        self.problem = ""
        self._client = client
        self._folder = f"/api/v1/namespaces/{namespace}/configmaps"
        self._found = found
        self._lead = lead
        self._log = log
        self._settled = False

    async def run(self) -> None:
        """Check until a document is in force and the marker exists."""
        while not self._settled:
            await self.check()
            await asyncio.sleep(CHECKED_EVERY)

    async def check(self) -> None:
        """Copy the first document if there never was one, and create the marker once there is one."""
        if not self._lead.held:
            return
        try:
            if self._found.has_document:
                await self._mark(CONFIGS_NAME)
                self._settled, self.problem = True, ""
            elif self._found.lacks_document:
                self.problem = await self._copy()
        except PaddockError as error:
            self.problem = str(error)

    async def _copy(self) -> str:
        """Copy the document. Returns an empty text, or the reason why it was not copied."""
        if await self._read(MARKER_NAME) is not None:
            return _HAD
        first = await self._read(INITIAL_NAME)
        if first is None:
            return ""
        text = (first.data or {}).get(DOCUMENT_KEY, "")
        if not has_content(text):
            return f"ConfigMap {INITIAL_NAME} has no {DOCUMENT_KEY}"
        # A document that is refused would end this process at its next start.
        await asyncio.to_thread(load_document, text)
        if not await self._create(CONFIGS_NAME, {DOCUMENT_KEY: text}):
            return _EXISTS
        self._log.info("the first queues were copied", source=INITIAL_NAME)
        await self._mark(INITIAL_NAME)
        return ""

    async def _mark(self, origin: str) -> None:
        """Record permanently that there was a document. ``origin``: the ConfigMap that it came from."""
        await self._create(MARKER_NAME, {"origin": origin})

    async def _read(self, name: str) -> _ConfigMap | None:
        try:
            return msgspec.json.decode(await self._client.get(f"{self._folder}/{name}"), type=_ConfigMap)
        except NotFound:
            return None
        except msgspec.MsgspecError:
            raise PaddockError(f"ConfigMap {name} is not readable") from None

    async def _create(self, name: str, data: dict[str, str]) -> bool:
        """True if it was created, False if there is one. An existing one is never replaced."""
        try:
            await self._client.post(self._folder, msgspec.json.encode(_ConfigMap(_Metadata(name), data)))
        except Conflict:
            return False
        return True
